"""The storage below a tensor: its geometry, its sharing."""

from __future__ import annotations

from typing import Any

from .._native import core as _core
from . import quantized
from ._method import Tensor, method


@method
def resize_(self: Tensor, *sizes: Any, memory_format: Any = None) -> Tensor:
    """Other sizes in place: grows the storage, never shrinks it, keeps the elements in storage order.

    `memory_format` lays the dimensions out. With `use_deterministic_algorithms` what was grown is
    filled, as `empty` is then.

    Args:
        *sizes: the new sizes, one by one or as one sequence.
        memory_format: contiguous (None as well), channels_last or channels_last_3d; RuntimeError
            for preserve_format.
    """
    flat = tuple(sizes[0]) if len(sizes) == 1 and not isinstance(sizes[0], int) else sizes
    return _resized(self, tuple(flat), memory_format)


def _resized(self: Tensor, sizes: tuple[int, ...], memory_format: Any) -> Tensor:
    if memory_format is _core.preserve_format:
        raise RuntimeError("resize_: memory_format=preserve_format has nothing to preserve")
    if self.is_quantized:
        return quantized.resize_(self, sizes, memory_format)
    strides = _strides(sizes, memory_format)
    before = _core.storage_bytes(self).numel() if _fills() else None
    made = self._resize(sizes)
    if before is not None:
        _fill_from(made, before)
    if strides is not None:
        made.as_strided_(sizes, strides)
    return made


def _strides(sizes: tuple[int, ...], memory_format: Any) -> tuple[int, ...] | None:
    """The strides of a format in which the channels come last; None for rows in order."""
    if memory_format in (None, _core.contiguous_format):
        return None
    like = _core.functions[""]["empty"]
    return tuple(like(sizes, device="meta", memory_format=memory_format).stride())


def _fills() -> bool:
    from .. import _settings

    if not _settings.are_deterministic_algorithms_enabled():
        return False
    from ..utils import deterministic

    return bool(deterministic.fill_uninitialized_memory)


def _fill_from(made: Tensor, before: int) -> None:
    """Fill the elements that lie behind the bytes there were."""
    count = _core.storage_bytes(made).numel() // made.element_size()
    first = -(-before // made.element_size())
    if count > first and made.device.type != "meta":
        grown = _core.on_storage(made.detach(), made.dtype, (count - first,), (1,), first)
        grown.copy_(_core.functions[""]["empty_like"](grown))  # which is filled


@method
def resize_as_(self: Tensor, other: Tensor, *, memory_format: Any = None) -> Tensor:
    """The sizes of `other`, in place; with `preserve_format` also its order of dimensions.

    Args:
        other: the tensor whose sizes are taken.
        memory_format: as in `resize_`, or preserve_format; None (the default) for contiguous.
    """
    if self.layout is _core.sparse_coo and other.layout is _core.sparse_coo:
        return self.sparse_resize_(other.shape, other.sparse_dim(), other.dense_dim())
    if memory_format is _core.preserve_format:
        formats = (_core.channels_last, _core.channels_last_3d)
        fits = (f for f in formats if other.is_contiguous(memory_format=f))
        in_rows = tuple(other.stride()) == _row_major(tuple(other.shape))
        memory_format = None if in_rows else next(fits, None)
    return _resized(self, tuple(other.shape), memory_format)


@method
def untyped_storage(self: Tensor) -> Any:
    """The bytes that this tensor views."""
    from ..storage import UntypedStorage  # late: it needs Tensor complete

    return UntypedStorage._of(self)


@method
def storage(self: Tensor) -> Any:
    """The storage seen as elements of this tensor's dtype."""
    from ..storage import TypedStorage  # late: it needs Tensor complete

    return TypedStorage(wrap_storage=self.untyped_storage(), dtype=self.dtype)


@method
def _typed_storage(self: Tensor) -> Any:
    """What libraries call to have `storage` without the warning that PyTorch gives."""
    return self.storage()


@method
def set_(
    self: Tensor, source: Any = None, storage_offset: int = 0, size: Any = None, stride: Any = None
) -> Tensor:
    """Become a view of another tensor's storage, or of a storage with the given geometry.

    It has no derivative: RuntimeError if this tensor or the source requires grad, but under `no_grad`.

    Args:
        source: a tensor or a storage of this tensor's dtype, or an untyped storage; None is an
            empty tensor. RuntimeError for another dtype.
        storage_offset: elements before the first; 0 by default.
        size: the sizes; None takes all of the storage as a vector, or the geometry of a tensor.
        stride: elements from one to the next in each dimension; None lays them out row by row.
    """
    kind = getattr(source, "_untyped_storage", None) is not None and source.dtype
    if kind and kind is not self.dtype:
        raise RuntimeError(
            f"set_: expected a storage of {self.dtype}, or an UntypedStorage, but got one of {kind}"
        )
    if source is None:
        view = _core.functions[""]["empty"](0, dtype=self.dtype)
    elif isinstance(source, Tensor) and size is None:
        view = source.detach()
    else:
        base = (
            source
            if isinstance(source, Tensor)
            else getattr(source, "_untyped_storage", source)._bytes
        )
        count = (base.numel() * base.element_size() // self.dtype.itemsize - storage_offset,)
        sizes = count if size is None else tuple(size)
        view = _core.on_storage(
            base,
            self.dtype,
            sizes,
            tuple(stride) if stride is not None else _row_major(sizes),
            storage_offset,
        )
    if view.dtype is not self.dtype:
        raise RuntimeError(
            f"Could not set tensor of type {view.dtype} to a tensor of type {self.dtype}"
        )
    return self._set(source if isinstance(source, Tensor) else view, view)


def _row_major(sizes: tuple[int, ...]) -> tuple[int, ...]:
    strides, step = [], 1
    for size in reversed(sizes):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


@method
def dim_order(self: Tensor, *, ambiguity_check: Any = False) -> tuple[int, ...]:
    """The dimensions from the outermost in memory to the innermost.

    Args:
        ambiguity_check: whether strides that fit several orders raise RuntimeError; a list of
            memory formats: whether none or several of these fit (False).
    """
    if not isinstance(ambiguity_check, bool):
        fits = [one for one in ambiguity_check if self.is_contiguous(memory_format=one)]
        ambiguous = len(fits) != 1
    else:
        ambiguous = ambiguity_check and _fits_several_orders(self)
    if ambiguous:
        raise RuntimeError(
            f"The tensor does not have unique dim order: sizes {list(self.shape)} and strides "
            f"{list(self.stride())} fit several"
        )
    return tuple(sorted(range(self.dim()), key=lambda d: -self.stride(d)))


def _fits_several_orders(self: Tensor) -> bool:
    """Whether a dimension of one element, of no stride, or of another's stride could stand elsewhere."""
    strides = self.stride()
    return 1 in self.shape or 0 in strides or len(set(strides)) < len(strides)


@method
def is_shared(self: Tensor) -> bool:
    """Whether other processes can see the memory: moved by `share_memory_`, or mapped from a file
    to be shared. Those of CUDA devices always can.
    """
    if self.device.type == "cuda":
        return True
    all_facts = [_core.segment_facts(part) for part in _with_memory(self)]
    return all(facts is not None and facts[0] for facts in all_facts)


@method
def share_memory_(self: Tensor) -> Tensor:
    """Move the memory to where other processes can see it; views move along, `.grad` stays.
    Returns the tensor. Of a tensor that is made of others, each of them moves.

    No change if it is shared already, or on a CUDA device. RuntimeError if shared memory or file
    descriptors are out. A numpy array made from the tensor before keeps the old memory, and no
    longer sees writes.
    """
    from .._storage.sharing import share

    if self.device.type != "cuda":
        for part in _with_memory(self):
            share(part)
    return self


def _with_memory(x: Tensor) -> list[Tensor]:
    """The tensor, or those that it is made of, which have memory."""
    parts = _core.parts_of(x)
    if parts is None:
        return [x]
    named = getattr(parts, "named", None)
    if named is None:
        raise RuntimeError(
            f"a tensor of layout {x.layout} does not say which tensors it is made of"
        )
    return [one for _, part in named() for one in _with_memory(part)]


@method
def is_pinned(self: Tensor, device: Any = None) -> bool:
    """Whether the memory is page-locked, so that a device copies from and to it on its own.

    Args:
        device: for whom, a device or its name; None is the accelerator. Pages are locked for CUDA
            devices, so that for others the answer is False.
    """
    return _locks_pages(device) and bool(_core.cuda_is_pinned(self))


def _locks_pages(device: Any) -> bool:
    return device is None or _core.device(device).type == "cuda"


@method
def pin_memory(self: Tensor, device: Any = None) -> Tensor:
    """A copy in page-locked memory; the tensor itself if it lies there already.

    From there `to(device, non_blocking=True)` returns at once. RuntimeError without an accelerator
    and for tensors that are not on the cpu; OutOfMemoryError if the system locks no more pages.

    Args:
        device: for whom, a device or its name; None is the accelerator. RuntimeError for another
            than a CUDA device.
    """
    if not _locks_pages(device):
        raise RuntimeError(f"pin_memory: pages are locked for CUDA devices, not for '{device}'")
    if self.is_pinned(device):
        return self
    if self.device.type != "cpu":
        raise RuntimeError(
            f"cannot pin a tensor of device '{self.device}': only tensors on the cpu can be pinned"
        )
    return _core.functions[""]["empty_like"](self, pin_memory=True).copy_(self)


@method
def record_stream(self: Tensor, stream: Any) -> None:
    """Work of `stream` uses the memory, too: after the tensor's end it serves again when that work is done.

    For a tensor that was made on one stream and is used on another. RuntimeError for tensors that
    are not on a device, TypeError for what is no stream.

    Args:
        stream: a `taeda.cuda.Stream`.
    """
    from ..cuda import Stream  # late: it needs Tensor complete

    if not isinstance(stream, Stream):
        raise TypeError(f"record_stream: wanted a taeda.cuda.Stream, got {type(stream).__name__}")
    if self.device.type != "cuda":
        raise RuntimeError(
            f"record_stream: tensors of device '{self.device}' are used on no stream"
        )
    _core.cuda_record_stream(self, stream.cuda_stream)


@method
def const_data_ptr(self: Tensor) -> int:
    """`data_ptr()`, for those who only read."""
    return self.data_ptr()


@method
def storage_type(self: Tensor) -> Any:
    """The class of storage that holds this dtype, such as `taeda.FloatStorage`."""
    from .. import storage  # late: it needs Tensor complete

    return getattr(storage, self.storage().type().rpartition(".")[2])
