"""What is asked of arguments before a kernel reads memory by them."""

from __future__ import annotations

import taeda
from taeda import Tensor

__all__ = ["check_regions", "computed", "same_dtype"]

#: the farthest place that a region may name, in places of a picture
FARTHEST = 2.0**30


def computed(tensor: Tensor, name: str) -> Tensor:
    """Contiguous, in the dtype that kernels compute in: float32, or float64. TypeError for integers,
    RuntimeError for a tensor that is not on the cpu.
    """
    if not tensor.is_floating_point():
        raise TypeError(f"{name} is of a floating-point dtype, not {tensor.dtype}")
    if tensor.device.type != "cpu":
        raise RuntimeError(
            f"{name} is on {tensor.device}: there are kernels for the cpu alone, use .cpu()"
        )
    return tensor.to(taeda.float64 if tensor.dtype is taeda.float64 else taeda.float32).contiguous()


def same_dtype(op: str, **tensors: Tensor) -> None:
    """RuntimeError, with both names, for tensors of different dtypes."""
    (first, one), *others = tensors.items()
    for name, other in others:
        if other.dtype is not one.dtype:
            raise RuntimeError(
                f"{op}: {first} and {name} are of one dtype, got {one.dtype} and {other.dtype}"
            )


def check_regions(
    op: str, input: Tensor, rois: Tensor, scale: float, rows: int, columns: int
) -> None:
    """RuntimeError for shapes that do not fit, and for regions of no picture or with places that are
    no numbers, or farther away than any.
    """
    same_dtype(op, input=input, rois=rois)
    if input.ndim != 4:
        raise RuntimeError(f"{op}: input has the shape [N, C, H, W], got {list(input.shape)}")
    if rois.ndim != 2 or rois.shape[1] != 5:
        raise RuntimeError(f"{op}: rois have the shape [K, 5], got {list(rois.shape)}")
    if rows < 1 or columns < 1:
        raise RuntimeError(f"{op}: an output has at least one bin, got {rows} x {columns}")
    if not rois.shape[0]:
        return
    if not input.shape[2] or not input.shape[3]:
        raise RuntimeError(f"{op}: regions of pictures without a place: {list(input.shape)}")
    if not bool(((rois[:, 1:] * scale).abs() <= FARTHEST).all()):
        raise RuntimeError(f"{op}: rois hold NaN, infinity, or places farther away than 2**30")
    numbers = rois[:, 0]
    if not bool(((numbers >= 0) & (numbers < input.shape[0])).all()):
        raise RuntimeError(
            f"{op}: the first number of a region is that of its picture, from 0 to {input.shape[0] - 1}; got "
            f"{numbers.min().item():g} to {numbers.max().item():g}"
        )
