"""Subclasses that compute by `__torch_dispatch__`: what makes their tensors."""

from __future__ import annotations

from typing import Any

from .._native import core as _core
from ._method import Tensor


def _torch_dispatch(
    func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
) -> Any:
    """Says that a type has no `__torch_dispatch__` of its own; a class that sets it has none,
    whatever its bases.
    """
    raise RuntimeError(f"{func}: no argument has a type with a __torch_dispatch__ of its own")


def _make_wrapper_subclass(
    cls: type,
    size: Any,
    *,
    strides: Any = None,
    storage_offset: int | None = None,
    memory_format: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    dispatch_sizes_strides_policy: str | None = None,
    dispatch_device: bool = False,
    dispatch_layout: bool = False,
    _extra_dispatch_keys: Any = None,
    storage_size: int | None = None,
) -> Any:
    """A tensor of `cls` without memory, which says that it has this shape, dtype and device.

    `__torch_dispatch__` of `cls`, which it must define, computes every operator that is called on
    it; autograd records above. What the tensor stands for is in the attributes that the caller
    sets. Without `strides` it is contiguous, or laid out as `memory_format` says.

    Raises TypeError if `cls` is no subclass of Tensor or has no `__torch_dispatch__`, RuntimeError
    for sizes and strides that do not fit together, NotImplementedError for arguments that would
    make shape, device or layout themselves dispatch.

    >>> import taeda
    >>> class Named(taeda.Tensor):
    ...     @classmethod
    ...     def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
    ...         return str(func)
    >>> x = taeda.Tensor._make_wrapper_subclass(Named, (2, 3), dtype=taeda.float64)
    >>> x.shape, x.dtype, x.device
    (taeda.Size([2, 3]), taeda.float64, device(type='cpu'))
    """
    given = {
        "dispatch_sizes_strides_policy": dispatch_sizes_strides_policy,
        "dispatch_device": dispatch_device or None,
        "dispatch_layout": dispatch_layout or None,
        "_extra_dispatch_keys": _extra_dispatch_keys,
        "storage_size": storage_size,
        "pin_memory": pin_memory or None,
    }
    for name, value in given.items():
        if value is not None:
            raise NotImplementedError(
                f"_make_wrapper_subclass: {name}={value!r} is not there. Shape, strides, device "
                "and layout are what is claimed here; "
                "override the attribute in the class for more"
            )
    if layout is not None and layout is not _core.strided:
        raise NotImplementedError(f"_make_wrapper_subclass: tensors are strided, got {layout}")
    sizes = tuple(size)
    if memory_format is not None:
        if strides is not None:
            raise RuntimeError("_make_wrapper_subclass: give strides or memory_format, not both")
        like = _core.functions[""]["empty"](sizes, device="meta", memory_format=memory_format)
        strides = like.stride()
    return Tensor._make_wrapper(
        cls,
        sizes,
        None if strides is None else tuple(strides),
        storage_offset or 0,
        _core.get_default_dtype() if dtype is None else dtype,
        _core.get_default_device() if device is None else _core.device(device),
        requires_grad,
    )


for _name, _function in (
    ("__torch_dispatch__", _torch_dispatch),
    ("_make_wrapper_subclass", _make_wrapper_subclass),
):
    _function.__name__, _function.__qualname__ = _name, f"Tensor.{_name}"
    setattr(Tensor, _name, staticmethod(_function))
