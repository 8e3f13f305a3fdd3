"""What programs of files do that no row does: checks while they run, and a dtype changed if need be."""

from __future__ import annotations

import inspect
from typing import Any

import taeda
from taeda import Tensor, fx

__all__ = [
    "FUNCTIONS",
    "arguments_of",
    "assert_scalar",
    "assert_tensor_metadata",
    "item",
    "to_dtype",
]


@fx.has_side_effect
def assert_scalar(self: Any, assert_msg: str) -> None:
    """RuntimeError with this message unless the condition holds."""
    if not self:
        raise RuntimeError(assert_msg)


@fx.has_side_effect
def assert_tensor_metadata(
    a: Tensor, size: Any = None, stride: Any = None, dtype: Any = None, *, device: Any = None,
    layout: Any = None,
) -> None:  # fmt: skip
    """RuntimeError unless the tensor has what is given of these."""
    wanted = {"size": size, "stride": stride, "dtype": dtype, "device": device, "layout": layout}
    found = {"size": list(a.shape), "stride": list(a.stride()), "dtype": a.dtype,
        "device": taeda.device(a.device.type), "layout": a.layout}  # fmt: skip
    for name, value in wanted.items():
        if value is None:
            continue
        value = list(value) if name in ("size", "stride") else value
        value = taeda.device(value.type) if name == "device" else value
        if found[name] != value:
            raise RuntimeError(
                f"a tensor of the program has {name} {found[name]}, and it was written for {value}"
            )


def to_dtype(
    self: Tensor, dtype: taeda.dtype, non_blocking: bool = False, copy: bool = False,
    memory_format: Any = None,
) -> Tensor:  # fmt: skip
    """The tensor in another dtype; itself if it has that, unless `copy`."""
    form = taeda.preserve_format if memory_format is None else memory_format
    made: Tensor = self.to(dtype, non_blocking=non_blocking, copy=copy, memory_format=form)
    return made


def item(self: Tensor) -> Any:
    """The number in a tensor with one element."""
    return self.item()


def arguments_of(function: Any) -> list[str]:
    """The names of the arguments of such a function."""
    return list(inspect.signature(function).parameters)


#: by their names in files
FUNCTIONS: dict[str, Any] = {
    "torch.ops.aten._assert_scalar.default": assert_scalar,
    "torch.ops.aten._assert_tensor_metadata.default": assert_tensor_metadata,
    "torch.ops.aten.item.default": item,
    "torch.ops.aten.to.dtype": to_dtype,
}
