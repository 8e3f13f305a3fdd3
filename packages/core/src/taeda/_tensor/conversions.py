"""Other dtypes, other devices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._layers import exact, watched
from .._layers.foreign import named
from .._native import core as _core
from ._method import Tensor, asked, method
from .legacy_types import construct, tensor_type

_CASTS = {
    "float": "float32", "double": "float64", "half": "float16", "bfloat16": "bfloat16",
    "long": "int64", "int": "int32",
    "short": "int16", "char": "int8", "byte": "uint8", "bool": "bool", "cfloat": "complex64",
    "cdouble": "complex128",
    "chalf": "complex32",
}  # fmt: skip


def _cast_method(name: str, dtype: Any) -> Callable[..., Any]:
    def cast(self: Tensor, memory_format: Any = _core.preserve_format) -> Tensor:
        if watched or type(self) not in exact:
            return asked(vars(Tensor)[name], converted, (self,), {"memory_format": memory_format})
        if memory_format is _core.preserve_format and self.dtype is dtype:
            return self  # as `to` would find at the end
        return self.to(dtype, memory_format=memory_format)

    def converted(self: Tensor, memory_format: Any) -> Tensor:
        return self.to(dtype, memory_format=memory_format)

    cast.__name__, cast.__qualname__ = name, f"Tensor.{name}"
    cast.__doc__ = f"""The tensor in {dtype}; itself if it has that dtype already.

    Args:
        memory_format: the order of the result in memory; by default that of the tensor.
    """
    return cast


for _name, _kind in _CASTS.items():
    setattr(Tensor, _name, _cast_method(_name, getattr(_core, _kind)))


_PYTHON_TYPES: tuple[Any, ...] = (float, int, bool, complex)


def _parse_to(
    args: tuple[Any, ...], dtype: Any, device: Any, other: Any
) -> tuple[Any, Any, list[Any]]:
    """(dtype, device, further positional arguments) of the forms to(dtype), to(device, dtype), to(other)."""
    rest = list(args)
    if rest and isinstance(rest[0], Tensor):
        other = rest.pop(0)
    if other is not None:
        return other.dtype, other.device, rest
    if rest and (
        isinstance(rest[0], _core.dtype) or any(rest[0] is kind for kind in _PYTHON_TYPES)
    ):
        dtype = rest.pop(0)
    elif rest and (
        isinstance(rest[0], (str, _core.device))
        or rest[0] is None
        or (isinstance(rest[0], int) and not isinstance(rest[0], bool))
    ):
        device = rest.pop(0)
        if rest and (isinstance(rest[0], _core.dtype) or rest[0] is None):
            dtype = rest.pop(0)
    elif rest:
        raise TypeError(f"to(): wanted a dtype, a device or a tensor, got {named(rest[0])}")
    return dtype, device, rest


def _is_at(here: Any, wanted: Any) -> bool:
    """Is a tensor on `here` where `wanted` asks it to be?
    A device without an ordinal means the first of its type.
    """
    return bool(here.type == wanted.type and (here.index or 0) == (wanted.index or 0))


@method
def to(
    self: Tensor,
    *args: Any,
    dtype: Any = None,
    device: Any = None,
    other: Any = None,
    non_blocking: bool = False,
    copy: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """The tensor with another dtype or on another device; itself if nothing changes and copy is False.

    Forms: to(dtype), to(device, dtype=None), to(other). Differentiable across floating-point
    dtypes. With `non_blocking` a copy from pinned memory to a device, or from a device, goes on
    after the call: whoever reads the result on the cpu waits for the stream first.

    Args:
        dtype: of the result, also float, int, bool or complex of Python; None keeps it.
        device: of the result: a device, its name, or the number of an accelerator; None keeps it.
        other: a tensor whose dtype and device are taken; None (the default) takes none.
        non_blocking: whether the copy may go on after the call; False by default.
        copy: whether a new tensor is made even where nothing changes; False by default.
        memory_format: the order of the result in memory; None keeps that of the tensor.
    """
    try:
        dtype, device, rest = _parse_to(args, dtype, device, other)
    except TypeError:
        named = {"non_blocking": non_blocking, "copy": copy, "memory_format": memory_format}
        return _to_by_others(self, args, {name: v for name, v in named.items() if v})
    if rest:  # to(..., non_blocking, copy)
        non_blocking = rest[0]
        copy = rest[1] if len(rest) > 1 else copy
    if device is not None and not isinstance(device, _core.device):
        device = _core.device(device)
    same_dtype = dtype is None or dtype is self.dtype
    same_device = device is None or _is_at(self.device, device)
    same_format = memory_format in (None, _core.preserve_format) or self.is_contiguous(
        memory_format=memory_format
    )
    if same_dtype and same_device and same_format and not copy:
        return self
    return _core.functions[""]["_to_copy"](
        self,
        dtype=dtype,
        device=device,
        non_blocking=bool(non_blocking),
        memory_format=memory_format,
    )


def _to_by_others(self: Tensor, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """The call where an argument that is none of those known has a `__torch_function__`."""
    from .._layers import dispatch as _dispatch  # late: it needs Tensor complete

    if not _dispatch.has_overrides(args):
        raise  # noqa: PLE0704 - the caller handles the error
    return _dispatch.dispatch_override(Tensor.to, (self, *args), named)


@method
def cpu(self: Tensor, memory_format: Any = _core.preserve_format) -> Tensor:
    """The tensor on the cpu; itself if it is there already.

    Args:
        memory_format: the order of the result in memory; by default that of the tensor.
    """
    return self.to("cpu", memory_format=memory_format)


@method
def cuda(
    self: Tensor, device: Any = None, non_blocking: bool = False, memory_format: Any = None
) -> Tensor:
    """The tensor on a CUDA device; RuntimeError where there is none.

    Args:
        device: a CUDA device, its name or number; None is the current one.
        non_blocking: as in `to`; False by default.
        memory_format: the order of the result in memory; None keeps that of the tensor.
    """
    where = "cuda" if device is None else device
    return self.to(where, non_blocking=non_blocking, memory_format=memory_format)


@method
def xpu(
    self: Tensor, device: Any = None, non_blocking: bool = False, memory_format: Any = None
) -> Tensor:
    """The tensor on an Intel GPU; RuntimeError where there is none.

    Args:
        device: an Intel GPU, its name or number; None is the current one.
        non_blocking: as in `to`; False by default.
        memory_format: the order of the result in memory; None keeps that of the tensor.
    """
    where = (
        _core.device("xpu", device) if isinstance(device, int) else _core.device(device or "xpu")
    )
    if where.type != "xpu":
        raise RuntimeError(
            f"xpu: wanted an Intel GPU ('xpu' or a number), got the device '{where}'"
        )
    return self.to(where, non_blocking=non_blocking, memory_format=memory_format)


@method
def type_as(self: Tensor, other: Tensor) -> Tensor:
    """The tensor in the dtype of `other`.

    Args:
        other: a tensor; of it only the dtype counts.
    """
    return self.to(other.dtype)


tensor_type.__name__ = "type"
method(tensor_type)


@method
def new(self: Tensor, *args: Any, device: Any = None, **named: Any) -> Tensor:
    """A tensor of this one's dtype: `x.new(2, 3)` has these sizes, `x.new([1, 2])` these values.

    Instead of those one of `size`, `data`, `other` (a tensor) and `storage`.

    Args:
        device: of the result; None takes that of this tensor.
        **named: one of `size`, `data`, `other` and `storage`, and then nothing else; TypeError for
            more.
    """
    place = self.device if device is None else device
    if named:
        [(name, value), *more] = named.items()
        if args or more or name not in ("size", "data", "other", "storage"):
            raise TypeError(
                f"new(): wanted sizes, or one of size, data, other and storage, got {len(args)} "
                f"arguments and {sorted(named)}"
            )
        args = tuple(value) if name == "size" else (value,)
    if self.layout is _core.sparse_coo:
        from .layouts import _methods  # late: only tensors by coordinates need it

        made: Tensor = _methods().new(self, args, place)
        return made
    return construct("new", self.dtype, args, place)
