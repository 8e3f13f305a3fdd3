"""What operators of files are that no row of the table is: checks while a program runs, and functions."""

from __future__ import annotations

import inspect
from typing import Any

import taeda
from taeda import Tensor, fx
from taeda.fx.experimental._data_sizes import assert_scalar, item
from taeda.nn import functional

__all__ = [
    "ASSERTIONS", "FUNCTIONS", "arguments_of", "assert_scalar", "assert_tensor_metadata", "bilinear",
    "grid_sampler", "item", "nearest", "numel", "rsub", "stride", "to_dtype",
]  # fmt: skip


@fx.has_side_effect
def assert_tensor_metadata(
    a: Tensor,
    size: Any = None,
    stride: Any = None,
    dtype: Any = None,
    *,
    device: Any = None,
    layout: Any = None,
) -> None:
    """RuntimeError unless the tensor has what is given of these."""
    wanted: dict[str, Any] = {
        "size": size,
        "stride": stride,
        "dtype": dtype,
        "device": device,
        "layout": layout,
    }
    found = {"size": list(a.shape), "stride": list(a.stride()), "dtype": a.dtype,
        "device": taeda.device(a.device.type), "layout": a.layout}  # fmt: skip
    for name, value in wanted.items():
        if value is None:
            continue
        if name in ("size", "stride"):
            value = list(value)
        elif name == "device":
            value = taeda.device(value.type)
        if found[name] != value:
            raise RuntimeError(
                f"a tensor of the program has {name} {found[name]}, and it was written for {value}"
            )


def to_dtype(
    self: Tensor,
    dtype: taeda.dtype,
    non_blocking: bool = False,
    copy: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """The tensor in another dtype; itself if it has that, unless `copy`."""
    form = taeda.preserve_format if memory_format is None else memory_format
    made: Tensor = self.to(dtype, non_blocking=non_blocking, copy=copy, memory_format=form)
    return made


def rsub(self: Tensor, other: Any, alpha: Any = 1) -> Tensor:
    """`other - alpha * self`."""
    made: Tensor = other - alpha * self
    return made


def bilinear(
    input: Tensor, output_size: Any, align_corners: bool, scale_factors: Any = None
) -> Tensor:
    """Images at another size, which is given or a multiple."""
    return functional.interpolate(input, output_size, scale_factors, "bilinear", align_corners)


def nearest(input: Tensor, output_size: Any, scale_factors: Any = None) -> Tensor:
    """Images at another size, which is given or a multiple, of the nearest pixels."""
    return functional.interpolate(input, output_size, scale_factors, "nearest")


def grid_sampler(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    """Images read at the places of a grid; the modes are numbers."""
    mode = ("bilinear", "nearest", "bicubic")[interpolation_mode]
    padding = ("zeros", "border", "reflection")[padding_mode]
    return functional.grid_sample(input, grid, mode, padding, align_corners)


def numel(self: Tensor) -> Any:
    """How many elements a tensor has."""
    return self.numel()


def stride(self: Tensor, dim: int) -> Any:
    """The steps from one element to the next along a dimension."""
    return self.stride(dim)


def arguments_of(function: Any) -> list[str]:
    """The names of the arguments of such a function."""
    return list(inspect.signature(function).parameters)


ASSERTIONS = (assert_scalar, assert_tensor_metadata)  # they give nothing
_RECURRENT = ("lstm", "gru", "rnn_tanh", "rnn_relu")
#: by their names in files
FUNCTIONS: dict[str, Any] = {
    "torch.ops.aten._assert_scalar.default": assert_scalar,
    "torch.ops.aten._assert_tensor_metadata.default": assert_tensor_metadata,
    "torch.ops.aten.affine_grid_generator.default": functional.affine_grid,
    "torch.ops.aten.conv_transpose1d.default": functional.conv_transpose1d,
    "torch.ops.aten.conv_transpose2d.input": functional.conv_transpose2d,
    "torch.ops.aten.conv_transpose3d.input": functional.conv_transpose3d,
    "torch.ops.aten.grid_sampler.default": grid_sampler,
    "torch.ops.aten.item.default": item,
    "torch.ops.aten.rsub.Scalar": rsub,
    "torch.ops.aten.sym_numel.default": numel,
    "torch.ops.aten.sym_stride.int": stride,
    "torch.ops.aten.upsample_bilinear2d.vec": bilinear,
    "torch.ops.aten.upsample_nearest2d.vec": nearest,
    **{f"torch.ops.aten.{n}.input": getattr(taeda, n) for n in _RECURRENT},
    "torch.ops.aten.to.dtype": to_dtype,
}
