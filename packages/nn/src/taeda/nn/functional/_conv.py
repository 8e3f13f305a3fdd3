"""Convolutions, and the columns of sliding windows (unfold) with their sum back (fold)."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api.doors import asks, require_tensors, tail
from taeda._core_api.operators import nn as _nn

__all__ = [
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_tbc",
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


@asks
def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Tensor:
    """A convolution along time of (T, N, C_in) by weights (K, C_in, C_out): (T + 2 pad - K + 1, N, C_out).

    Args:
        input: sequences of shape (T, N, C_in), a float tensor. RuntimeError for another number of
            dimensions, here and below
        weight: the kernel, of shape (K, C_in, C_out) and the dtype of input
        bias: what is added to each output channel, of shape (C_out,)
        pad: how many steps of zeros stand at both ends, at least 0 (default: 0)

    >>> conv_tbc(taeda.ones(5, 1, 2), taeda.ones(3, 2, 4), taeda.zeros(4)).shape
    taeda.Size([3, 1, 4])
    """
    require_tensors("conv_tbc", input=input, weight=weight, bias=bias)
    for name, tensor, rank in (("input", input, 3), ("weight", weight, 3), ("bias", bias, 1)):
        if tensor.dim() != rank:
            raise RuntimeError(f"conv_tbc: {name} has {tensor.dim()} dimensions, wanted {rank}")
    made = taeda.conv1d(input.permute(1, 2, 0), weight.permute(2, 1, 0), bias, padding=pad)
    return made.permute(2, 0, 1)


@tail
def unfold(
    input: Tensor, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Tensor:
    """The windows of (N, C, H, W) as columns: (N, C · kernel elements, windows), likewise without N.

    Raises RuntimeError for sizes of which no window fits.

    Args:
        input: images of shape (N, C, H, W) or (C, H, W)
        kernel_size: the size of the window, at least 1: an int, or one for each spatial dimension
        dilation: the distance between two elements of the window, at least 1: an int, or one for
            each spatial dimension (default: 1)
        padding: how many zeros stand on both sides: an int, or one for each spatial dimension
            (default: 0)
        stride: the step of the window, at least 1: an int, or one for each spatial dimension
            (default: 1)

    >>> x = taeda.arange(9.0).reshape(1, 1, 3, 3)
    >>> taeda.nn.functional.unfold(x, 2)
    tensor([[[0., 1., 3., 4.],
             [1., 2., 4., 5.],
             [3., 4., 6., 7.],
             [4., 5., 7., 8.]]])
    """
    return _nn.im2col(input, kernel_size, dilation, padding, stride)


@tail
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

    Args:
        input: windows as unfold gives them, of shape (N, C * product of kernel_size, number of
            windows)
        output_size: the spatial sizes of the result: an int, or one for each spatial dimension
        kernel_size: the size of the window, at least 1: an int, or one for each spatial dimension
        dilation: the distance between two elements of the window, at least 1: an int, or one for
            each spatial dimension (default: 1)
        padding: how many zeros stand on both sides: an int, or one for each spatial dimension
            (default: 0)
        stride: the step of the window, at least 1: an int, or one for each spatial dimension
            (default: 1)

    >>> x = taeda.arange(9.0).reshape(1, 1, 3, 3)
    >>> columns = taeda.nn.functional.unfold(x, 2)
    >>> taeda.nn.functional.fold(columns, (3, 3), 2)
    tensor([[[[ 0.,  2.,  2.],
              [ 6., 16., 10.],
              [ 6., 14.,  8.]]]])
    """
    return _nn.col2im(input, output_size, kernel_size, dilation, padding, stride)
