"""What a pickle of a tensor holds, and the tensor again.

    memory, dtype, (sizes, strides), (conj bit, neg bit), requires_grad, attributes

A pickle holds the bytes that the tensor reaches, gaps between its elements included, so that
strides survive. `copy.copy` uses the same description but never pickles `memory`: its copy lies on
the same bytes. A subclass is described as a class around a plain tensor; taeda.multiprocessing
describes the plain one differently, and so shares both.
"""

from __future__ import annotations

from pickle import PickleBuffer
from typing import Any

from ._native import core as _core

Tensor = _core.Tensor
__all__ = ["describe", "facts", "rebuild"]

Geometry = tuple[tuple[int, ...], tuple[int, ...]]  # sizes, strides


class Memory:
    """The bytes of a tensor: those it lies on, or in a pickle a copy of those it reaches."""

    def __init__(self, base: Tensor, offset: int) -> None:
        self.base, self.offset = base, offset

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        begin, end = _extent(self.base)
        # whoever reads it may keep it
        raw = _core.storage_bytes(self.base)[begin:end].clone().cpu()
        content = PickleBuffer(raw) if protocol >= 5 else bytes(memoryview(raw))
        place = self.base.device
        return _read, (content,) if place.type == "cpu" else (content, str(place))


def _read(raw: Any, device: str = "cpu") -> Memory:
    found = _core.functions[""]["empty"](len(memoryview(raw)), dtype=_core.uint8)
    if found.numel():
        found.copy_(_core.from_buffer(raw, _core.uint8))
    return Memory(found if device == "cpu" else found.to(device), 0)


def _extent(tensor: Tensor) -> tuple[int, int]:
    """The first byte of the storage that a tensor reaches, and the one after the last."""
    if not tensor.numel():
        return 0, 0
    item, begin = tensor.element_size(), tensor.storage_offset()
    last = sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride(), strict=True))
    return begin * item, (begin + last + 1) * item


def describe(tensor: Tensor) -> tuple[Any, ...]:
    """What `__reduce_ex__` returns."""
    cls, state = type(tensor), dict(tensor.__dict__) or None
    if _core.parts_of(tensor) is not None:
        return _describe_layout(tensor)
    if _core.names_of(tensor) is not None:
        from ._io.layouts import refuse_names  # late: files know pickles

        refuse_names(tensor, "a tensor")
    if tensor._dispatches():
        return _describe_dispatching(tensor)
    if cls is not Tensor:
        plain = Tensor._make_subclass(Tensor, tensor)
        return _rebuild_subclass, (cls, plain, tensor.requires_grad, state)
    meta = tensor.device.type == "meta"
    memory = None if meta else Memory(tensor.detach(), tensor.storage_offset())
    return _rebuild, (memory, tensor.dtype, *facts(tensor), tensor.requires_grad, state)


def _describe_layout(tensor: Tensor) -> tuple[Any, ...]:
    """What a sparse tensor is made of."""
    from ._io.layouts import facts_of

    return _rebuild_layout, (*facts_of(tensor), tensor.requires_grad, dict(tensor.__dict__) or None)


def _rebuild_layout(
    name: str,
    parts: list[Tensor],
    size: tuple[int, ...],
    is_coalesced: bool,
    requires_grad: bool,
    state: dict[str, Any] | None,
) -> Tensor:
    from ._io.layouts import from_facts

    made = from_facts(name, parts, size, is_coalesced).requires_grad_(requires_grad)
    made.__dict__.update(state or {})
    return made


def _describe_dispatching(tensor: Tensor) -> tuple[Any, ...]:
    """A class, what its tensor claims to be, and its attributes, which hold what it stands for."""
    from ._layers.dispatch import attributes_of

    if tensor.data_ptr():
        raise TypeError(
            f"cannot pickle a {type(tensor).__name__}: its operators run in __torch_dispatch__ and "
            "it has memory of its own. "
            "Define __reduce_ex__, or make it with _make_wrapper_subclass"
        )
    claims = (tuple(tensor.shape), tuple(tensor.stride()), tensor.storage_offset(), tensor.dtype)
    place = str(tensor.device)
    state = attributes_of(tensor)
    return _rebuild_dispatching, (type(tensor), *claims, place, tensor.requires_grad, state)


def _rebuild_dispatching(
    cls: type,
    sizes: tuple[int, ...],
    strides: tuple[int, ...],
    offset: int,
    dtype: Any,
    device: str,
    requires_grad: bool,
    state: dict[str, Any],
) -> Tensor:
    place = _core.device(device)
    made: Tensor = Tensor._make_wrapper(cls, sizes, strides, offset, dtype, place, requires_grad)
    for name, value in state.items():
        setattr(made, name, value)
    return made


def facts(tensor: Tensor) -> tuple[Geometry, tuple[bool, bool]]:
    """((sizes, strides), (conj bit, neg bit)) of a tensor."""
    return (tuple(tensor.shape), tuple(tensor.stride())), (tensor.is_conj(), tensor.is_neg())


def _rebuild(memory: Memory | None, *facts: Any) -> Tensor:
    return (
        rebuild(None, 0, *facts) if memory is None else rebuild(memory.base, memory.offset, *facts)
    )


def _rebuild_subclass(
    cls: type, plain: Tensor, requires_grad: bool, state: dict[str, Any] | None
) -> Tensor:
    made: Tensor = Tensor._make_subclass(cls, plain, requires_grad)
    made.__dict__.update(state or {})
    return made


def rebuild(
    base: Tensor | None,
    offset: int,
    dtype: Any,
    geometry: Geometry,
    bits: tuple[bool, bool],
    requires_grad: bool,
    state: dict[str, Any] | None,
) -> Tensor:
    """A tensor in the storage of `base`, or a meta tensor without one. RuntimeError if it reaches outside."""
    functions, (sizes, strides) = _core.functions[""], geometry
    if base is None:
        made = functions["empty_strided"](sizes, strides, dtype=dtype, device="meta")
    else:
        made = _core.on_storage(base, dtype, sizes, strides, offset)
    if bits[0]:
        made = made.conj()
    if bits[1]:
        made = functions["_neg_view"](made)
    made.requires_grad_(requires_grad)
    made.__dict__.update(state or {})
    return made


for _named in (_read, _rebuild, _rebuild_dispatching, _rebuild_subclass):
    _named.__module__ = "taeda.storage"  # where pickles find them, wherever this file moves
