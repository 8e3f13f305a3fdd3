"""Convolutions, and the columns of sliding windows (unfold) with their sum back (fold)."""

from __future__ import annotations

import math
from typing import Any

import taeda
from taeda import Tensor

from ._windows import blocks, sizes_of
from .padding import pad

__all__ = [
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "fold",
    "unfold",
]

conv1d = taeda.conv1d
conv2d = taeda.conv2d
conv3d = taeda.conv3d
conv_transpose1d = taeda.conv_transpose1d
conv_transpose2d = taeda.conv_transpose2d
conv_transpose3d = taeda.conv_transpose3d


class _Windows:
    """Sliding windows over a plane: checked sizes, and the place of every element of every window."""

    def __init__(self, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> None:
        self.kernel = sizes_of("kernel_size", kernel_size, 2)
        self.dilation = sizes_of("dilation", dilation, 2)
        self.padding = sizes_of("padding", padding, 2)
        self.stride = sizes_of("stride", stride, 2)
        for name, least in (("kernel", 1), ("dilation", 1), ("padding", 0), ("stride", 1)):
            if min(getattr(self, name)) < least:
                wanted = "greater than zero" if least else "non-negative"
                raise RuntimeError(f"{name} should be {wanted}, but got {getattr(self, name)}")

    def count(self, size: tuple[int, int]) -> tuple[int, int]:
        rows, columns = blocks(size, self.kernel, self.dilation, self.padding, self.stride)
        return rows, columns

    def describe(self) -> str:
        return (
            f"kernel_size={self.kernel}, dilation={self.dilation}, padding={self.padding}, stride={self.stride}"
        )

    def places(self, size: tuple[int, int], device: Any) -> Tensor:
        """Index into the flattened padded plane, (kernel elements, windows)."""
        count = self.count(size)
        rows, columns = (
            taeda.arange(self.kernel[i], device=device).mul_(self.dilation[i]).unsqueeze(1)
            + taeda.arange(count[i], device=device).mul_(self.stride[i])
            for i in (0, 1)
        )  # (kernel, windows) of each axis
        width = size[1] + 2 * self.padding[1]
        grid = rows[:, None, :, None] * width + columns[None, :, None, :]
        return grid.reshape(math.prod(self.kernel), math.prod(count))


def unfold(
    input: Tensor, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Tensor:
    """The windows of (N, C, H, W) as columns: (N, C · kernel elements, windows), likewise without N.

    Raises RuntimeError for sizes of which no window fits.
    """
    windows = _Windows(kernel_size, dilation, padding, stride)
    if input.dim() not in (3, 4) or 0 in input.shape[-3:]:
        raise RuntimeError(
            "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions "
            f"for input, but got: {list(input.shape)}"
        )
    height, width = input.shape[-2:]
    if min(windows.count((height, width))) < 1:
        raise RuntimeError(
            f"Given input with spatial size {(height, width)}, {windows.describe()}, calculated shape of the "
            f"array of sliding blocks as {windows.count((height, width))}, but its components must be at least one."
        )
    down, across = windows.padding
    padded = pad(input, (across, across, down, down)) if down or across else input
    places = windows.places((height, width), input.device)
    columns = padded.flatten(-2)[..., places]
    return columns.flatten(-3, -2)


def fold(
    input: Tensor,
    output_size: Any,
    kernel_size: Any,
    dilation: Any = 1,
    padding: Any = 0,
    stride: Any = 1,
) -> Tensor:
    """The sum of windows, given as the columns that `unfold` makes, into a plane of `output_size`.

    Raises RuntimeError where the columns do not fit the sizes.
    """
    size = sizes_of("output_size", output_size, 2) if isinstance(output_size, int) else tuple(output_size)
    if len(size) != 2:
        raise RuntimeError(f"It is expected output_size equals to 2, but got size {len(size)}")
    windows = _Windows(kernel_size, dilation, padding, stride)
    if input.dim() not in (2, 3) or 0 in input.shape[-2:]:
        raise RuntimeError(
            "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero "
            f"dimensions for input, but got: {list(input.shape)}"
        )
    elements, count = math.prod(windows.kernel), windows.count(size)
    if input.size(-2) % elements:
        raise RuntimeError(
            "Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got "
            f"input.size(1)={input.size(-2)} and kernel_size={windows.kernel}."
        )
    if min(count) < 1 or input.size(-1) != math.prod(count):
        raise RuntimeError(
            f"Given output_size={size}, {windows.describe()}, expected size of input's dimension 2 to match the "
            f"calculated number of sliding blocks {count[0]} * {count[1]} = {math.prod(count)}, but got "
            f"input.size(2)={input.size(-1)}."
        )
    (height, width), (down, across) = size, windows.padding
    columns = input.unflatten(-2, (-1, elements)).flatten(-2)
    shape = (*columns.shape[:-1], (height + 2 * down) * (width + 2 * across))
    places = windows.places(size, input.device).flatten()
    plane = taeda.zeros(shape, dtype=input.dtype, device=input.device).index_add(-1, places, columns)
    plane = plane.unflatten(-1, (height + 2 * down, width + 2 * across))
    return plane[..., down : down + height, across : across + width].contiguous()
