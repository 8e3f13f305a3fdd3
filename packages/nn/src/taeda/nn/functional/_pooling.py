"""Pools: maximum, average and power average of windows, with fixed or adapted sizes."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import SymInt, Tensor
from taeda._core_api.doors import call_others, exact, is_for_others, tail, watched
from taeda._core_api.operators import nn as _nn
from taeda._core_api.operators import rounded_once

from ._windows import sizes_of

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool1d_with_indices",
    "adaptive_max_pool2d",
    "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d",
    "adaptive_max_pool3d_with_indices",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
    "max_pool1d",
    "max_pool1d_with_indices",
    "max_pool2d",
    "max_pool2d_with_indices",
    "max_pool3d",
    "max_pool3d_with_indices",
]


avg_pool1d = taeda.avg_pool1d
avg_pool2d = _nn.avg_pool2d
avg_pool3d = _nn.avg_pool3d
adaptive_avg_pool1d = taeda.adaptive_avg_pool1d

# ---- maximum ----


@tail
def max_pool1d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of every window along the last dimension, and its place on request.

    Args:
        input: a batch of shape (N, C, L), or one sample (C, L)
        kernel_size: the size of the window, at least 1: an int, or a list of one
        stride: the step of the window, at least 1: an int, or a list of one; None for
            kernel_size (default: None)
        padding: how many places of -inf stand on both sides, at most half of the window: an
            int, or a list of one (default: 0)
        dilation: the distance between two elements of the window, at least 1: an int, or a list
            of one (default: 1)
        ceil_mode: whether output sizes are rounded up instead of down, so that a last window may
            stick out (default: False)
        return_indices: whether the places of the largest elements come too: int64, counted
            through the spatial dimensions of each channel (default: False)

    >>> taeda.nn.functional.max_pool1d(taeda.tensor([[1.0, 5.0, 2.0, 3.0]]), 2)
    tensor([[5., 3.]])
    """
    run = taeda.max_pool1d_with_indices if return_indices else taeda.max_pool1d
    return run(input, kernel_size, _or_empty(stride), padding, dilation, ceil_mode)


@tail
def max_pool2d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of every window over the last two dimensions, and its place on request.

    Args:
        input: a batch of shape (N, C, H, W), or one sample (C, H, W)
        kernel_size: the size of the window, at least 1: an int, or one for each of the 2 spatial
            dimensions
        stride: the step of the window, at least 1: an int, or one for each of the 2 spatial
            dimensions; None for kernel_size (default: None)
        padding: how many places of -inf stand on both sides, at most half of the window: an
            int, or one for each of the 2 spatial dimensions (default: 0)
        dilation: the distance between two elements of the window, at least 1: an int, or one for
            each of the 2 spatial dimensions (default: 1)
        ceil_mode: whether output sizes are rounded up instead of down, so that a last window may
            stick out (default: False)
        return_indices: whether the places of the largest elements come too: int64, counted
            through the spatial dimensions of each channel (default: False)

    >>> x = taeda.arange(16.0).reshape(1, 1, 4, 4)
    >>> taeda.nn.functional.max_pool2d(x, 2)
    tensor([[[[ 5.,  7.],
              [13., 15.]]]])
    """
    run = _nn.max_pool2d_with_indices if return_indices else taeda.max_pool2d
    return run(input, kernel_size, _or_empty(stride), padding, dilation, ceil_mode)


@tail
def max_pool3d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of every window over the last three dimensions, and its place on request.

    Args:
        input: a batch of shape (N, C, D, H, W), or one sample (C, D, H, W)
        kernel_size: the size of the window, at least 1: an int, or one for each of the 3 spatial
            dimensions
        stride: the step of the window, at least 1: an int, or one for each of the 3 spatial
            dimensions; None for kernel_size (default: None)
        padding: how many places of -inf stand on both sides, at most half of the window: an
            int, or one for each of the 3 spatial dimensions (default: 0)
        dilation: the distance between two elements of the window, at least 1: an int, or one for
            each of the 3 spatial dimensions (default: 1)
        ceil_mode: whether output sizes are rounded up instead of down, so that a last window may
            stick out (default: False)
        return_indices: whether the places of the largest elements come too: int64, counted
            through the spatial dimensions of each channel (default: False)

    >>> x = taeda.arange(8.0).reshape(1, 1, 2, 2, 2)
    >>> taeda.nn.functional.max_pool3d(x, 2)
    tensor([[[[[7.]]]]])
    """
    run = _nn.max_pool3d_with_indices if return_indices else taeda.max_pool3d
    return run(input, kernel_size, _or_empty(stride), padding, dilation, ceil_mode)


@tail
def max_pool1d_with_indices(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> tuple[Tensor, Tensor]:
    """`max_pool1d` and the places of the maxima.

    Args:
        input: a batch of shape (N, C, L), or one sample (C, L)
        kernel_size: the size of the window, at least 1: an int, or a list of one
        stride: the step of the window, at least 1: an int, or a list of one; None for
            kernel_size (default: None)
        padding: how many places of -inf stand on both sides, at most half of the window: an
            int, or a list of one (default: 0)
        dilation: the distance between two elements of the window, at least 1: an int, or a list
            of one (default: 1)
        ceil_mode: whether output sizes are rounded up instead of down, so that a last window may
            stick out (default: False)
        return_indices: whether the places of the largest elements come too: int64, counted
            through the spatial dimensions of each channel (default: False)

    >>> taeda.nn.functional.max_pool1d_with_indices(taeda.tensor([[1.0, 5.0, 2.0, 3.0]]), 2)
    (tensor([[5., 3.]]), tensor([[1, 3]]))
    """
    return max_pool1d(input, kernel_size, stride, padding, dilation, ceil_mode, True)


@tail
def max_pool2d_with_indices(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> tuple[Tensor, Tensor]:
    """`max_pool2d` and the places of the maxima, counted within each plane.

    Args:
        input: a batch of shape (N, C, H, W), or one sample (C, H, W)
        kernel_size: the size of the window, at least 1: an int, or one for each of the 2 spatial
            dimensions
        stride: the step of the window, at least 1: an int, or one for each of the 2 spatial
            dimensions; None for kernel_size (default: None)
        padding: how many places of -inf stand on both sides, at most half of the window: an
            int, or one for each of the 2 spatial dimensions (default: 0)
        dilation: the distance between two elements of the window, at least 1: an int, or one for
            each of the 2 spatial dimensions (default: 1)
        ceil_mode: whether output sizes are rounded up instead of down, so that a last window may
            stick out (default: False)
        return_indices: whether the places of the largest elements come too: int64, counted
            through the spatial dimensions of each channel (default: False)

    >>> x = taeda.arange(16.0).reshape(1, 1, 4, 4)
    >>> values, places = taeda.nn.functional.max_pool2d_with_indices(x, 2)
    >>> places
    tensor([[[[ 5,  7],
              [13, 15]]]])
    """
    return max_pool2d(input, kernel_size, stride, padding, dilation, ceil_mode, True)


@tail
def max_pool3d_with_indices(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> tuple[Tensor, Tensor]:
    """`max_pool3d` and the places of the maxima, counted within each volume.

    Args:
        input: a batch of shape (N, C, D, H, W), or one sample (C, D, H, W)
        kernel_size: the size of the window, at least 1: an int, or one for each of the 3 spatial
            dimensions
        stride: the step of the window, at least 1: an int, or one for each of the 3 spatial
            dimensions; None for kernel_size (default: None)
        padding: how many places of -inf stand on both sides, at most half of the window: an
            int, or one for each of the 3 spatial dimensions (default: 0)
        dilation: the distance between two elements of the window, at least 1: an int, or one for
            each of the 3 spatial dimensions (default: 1)
        ceil_mode: whether output sizes are rounded up instead of down, so that a last window may
            stick out (default: False)
        return_indices: whether the places of the largest elements come too: int64, counted
            through the spatial dimensions of each channel (default: False)

    >>> x = taeda.arange(8.0).reshape(1, 1, 2, 2, 2)
    >>> taeda.nn.functional.max_pool3d_with_indices(x, 2)
    (tensor([[[[[7.]]]]]), tensor([[[[[7]]]]]))
    """
    return max_pool3d(input, kernel_size, stride, padding, dilation, ceil_mode, True)


def _or_empty(stride: Any) -> Any:
    """No stride means that of the kernel, which operations write as an empty list."""
    return () if stride is None else stride


# ---- adapted to an output size ----


def _output_size(output_size: Any, input: Tensor, count: int, name: str) -> Any:
    """The wanted sizes; None keeps the input's."""
    if isinstance(output_size, int | SymInt):
        return (output_size,) * count
    if output_size is None or len(output_size) != count:
        raise RuntimeError(f"{name}: output_size must be {count}, but got {output_size}")
    own = input.shape[-count:]
    return tuple(own[i] if size is None else size for i, size in enumerate(output_size))


def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """Averages of as many windows as `output_size` says; None keeps a size.

    Args:
        input: a batch of shape (N, C, H, W), or one sample (C, H, W)
        output_size: the spatial sizes of the result: an int, or one for each spatial dimension

    >>> x = taeda.arange(16.0).reshape(1, 1, 4, 4)
    >>> taeda.nn.functional.adaptive_avg_pool2d(x, 2)
    tensor([[[[ 2.5000,  4.5000],
              [10.5000, 12.5000]]]])
    >>> taeda.nn.functional.adaptive_avg_pool2d(x, (1, None)).shape
    taeda.Size([1, 1, 1, 4])
    """
    if (watched or type(input) not in exact) and is_for_others((input,)):
        return call_others(adaptive_avg_pool2d, (input,))
    return _nn.adaptive_avg_pool2d(
        input, _output_size(output_size, input, 2, "adaptive_avg_pool2d")
    )


def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Tensor:
    """Averages of as many windows as `output_size` says; None keeps a size.

    Args:
        input: a batch of shape (N, C, D, H, W), or one sample (C, D, H, W)
        output_size: the spatial sizes of the result: an int, or one for each spatial dimension

    >>> x = taeda.rand(2, 3, 8, 9, 10)
    >>> taeda.nn.functional.adaptive_avg_pool3d(x, (2, 3, None)).shape
    taeda.Size([2, 3, 2, 3, 10])
    """
    if (watched or type(input) not in exact) and is_for_others((input,)):
        return call_others(adaptive_avg_pool3d, (input,))
    return _nn.adaptive_avg_pool3d(
        input, _output_size(output_size, input, 3, "adaptive_avg_pool3d")
    )


def adaptive_max_pool1d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """Maxima of as many windows as `output_size` says, and their places on request.

    Args:
        input: a batch of shape (N, C, L), or one sample (C, L)
        output_size: the spatial sizes of the result: an int, or one for each spatial dimension
        return_indices: whether the places of the largest elements come too: int64, counted
            through the spatial dimensions of each channel (default: False)

    >>> x = taeda.tensor([[1.0, 5.0, 2.0, 3.0, 4.0, 0.0]])
    >>> taeda.nn.functional.adaptive_max_pool1d(x, 3)
    tensor([[5., 3., 4.]])
    """
    if (watched or type(input) not in exact) and is_for_others((input,)):
        return call_others(adaptive_max_pool1d, (input,))
    both = taeda.adaptive_max_pool1d(input, output_size)
    return both if return_indices else both[0]


def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """Maxima of as many windows as `output_size` says, and their places on request; None keeps a size.

    Args:
        input: a batch of shape (N, C, H, W), or one sample (C, H, W)
        output_size: the spatial sizes of the result: an int, or one for each spatial dimension
        return_indices: whether the places of the largest elements come too: int64, counted
            through the spatial dimensions of each channel (default: False)

    >>> x = taeda.arange(16.0).reshape(1, 1, 4, 4)
    >>> taeda.nn.functional.adaptive_max_pool2d(x, 2)
    tensor([[[[ 5.,  7.],
              [13., 15.]]]])
    """
    if (watched or type(input) not in exact) and is_for_others((input,)):
        return call_others(adaptive_max_pool2d, (input,))
    size = _output_size(output_size, input, 2, "adaptive_max_pool2d")
    both = _nn.adaptive_max_pool2d(input, size)
    return both if return_indices else both[0]


def adaptive_max_pool3d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """Maxima of as many windows as `output_size` says, and their places on request; None keeps a size.

    Args:
        input: a batch of shape (N, C, D, H, W), or one sample (C, D, H, W)
        output_size: the spatial sizes of the result: an int, or one for each spatial dimension
        return_indices: whether the places of the largest elements come too: int64, counted
            through the spatial dimensions of each channel (default: False)

    >>> x = taeda.rand(2, 3, 8, 9, 10)
    >>> taeda.nn.functional.adaptive_max_pool3d(x, (2, 3, 1)).shape
    taeda.Size([2, 3, 2, 3, 1])
    """
    if (watched or type(input) not in exact) and is_for_others((input,)):
        return call_others(adaptive_max_pool3d, (input,))
    size = _output_size(output_size, input, 3, "adaptive_max_pool3d")
    both = _nn.adaptive_max_pool3d(input, size)
    return both if return_indices else both[0]


def adaptive_max_pool1d_with_indices(
    input: Tensor, output_size: Any, return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    """`adaptive_max_pool1d` and the places of the maxima.

    Args:
        input: a batch of shape (N, C, *), or one sample (C, *), with the spatial sizes last
        output_size: the spatial sizes of the result: an int, or one for each spatial dimension
        return_indices: whether the places of the largest elements come too: int64, counted
            through the spatial dimensions of each channel (default: False)

    >>> x = taeda.tensor([[1.0, 5.0, 2.0, 3.0, 4.0, 0.0]])
    >>> taeda.nn.functional.adaptive_max_pool1d_with_indices(x, 3)
    (tensor([[5., 3., 4.]]), tensor([[1, 3, 4]]))
    """
    if (watched or type(input) not in exact) and is_for_others((input,)):
        return call_others(adaptive_max_pool1d_with_indices, (input,))
    return adaptive_max_pool1d(input, output_size, True)


def adaptive_max_pool2d_with_indices(
    input: Tensor, output_size: Any, return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    """`adaptive_max_pool2d` and the places of the maxima.

    Args:
        input: a batch of shape (N, C, *), or one sample (C, *), with the spatial sizes last
        output_size: the spatial sizes of the result: an int, or one for each spatial dimension
        return_indices: whether the places of the largest elements come too: int64, counted
            through the spatial dimensions of each channel (default: False)

    >>> x = taeda.arange(16.0).reshape(1, 1, 4, 4)
    >>> values, places = taeda.nn.functional.adaptive_max_pool2d_with_indices(x, 2)
    >>> values, places
    (tensor([[[[ 5.,  7.],
              [13., 15.]]]]), tensor([[[[ 5,  7],
              [13, 15]]]]))
    """
    if (watched or type(input) not in exact) and is_for_others((input,)):
        return call_others(adaptive_max_pool2d_with_indices, (input,))
    return adaptive_max_pool2d(input, output_size, True)


def adaptive_max_pool3d_with_indices(
    input: Tensor, output_size: Any, return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    """`adaptive_max_pool3d` and the places of the maxima.

    Args:
        input: a batch of shape (N, C, *), or one sample (C, *), with the spatial sizes last
        output_size: the spatial sizes of the result: an int, or one for each spatial dimension
        return_indices: whether the places of the largest elements come too: int64, counted
            through the spatial dimensions of each channel (default: False)

    >>> x = taeda.arange(8.0).reshape(1, 2, 2, 2)
    >>> taeda.nn.functional.adaptive_max_pool3d_with_indices(x, 1)
    (tensor([[[[7.]]]]), tensor([[[[7]]]]))
    """
    if (watched or type(input) not in exact) and is_for_others((input,)):
        return call_others(adaptive_max_pool3d_with_indices, (input,))
    return adaptive_max_pool3d(input, output_size, True)


# ---- power average ----


def lp_pool1d(
    input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
) -> Tensor:
    """(sum of x**p)**(1/p) of every window; negative sums count as 0.

    Args:
        input: a batch of shape (N, C, *), or one sample (C, *), with the spatial sizes last
        norm_type: the order of the norm, above 0
        kernel_size: the size of the window, at least 1: an int, or one for each spatial dimension
        stride: the step of the window, at least 1: an int, or a list of one; None for
            kernel_size (default: None)
        ceil_mode: whether output sizes are rounded up instead of down, so that a last window may
            stick out (default: False)

    >>> taeda.nn.functional.lp_pool1d(taeda.tensor([[[3.0, 4.0, 6.0, 8.0]]]), 2, 2)
    tensor([[[ 5., 10.]]])
    """
    if (watched or type(input) not in exact) and is_for_others((input,)):
        return call_others(lp_pool1d, (input,))
    return _lp_pool(avg_pool1d, input, norm_type, kernel_size, stride, ceil_mode, 1)


def lp_pool2d(
    input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
) -> Tensor:
    """(sum of x**p)**(1/p) of every window; negative sums count as 0.

    Args:
        input: a batch of shape (N, C, *), or one sample (C, *), with the spatial sizes last
        norm_type: the order of the norm, above 0
        kernel_size: the size of the window, at least 1: an int, or one for each spatial dimension
        stride: the step of the window, at least 1: an int, or one for each of the 2 spatial
            dimensions; None for kernel_size (default: None)
        ceil_mode: whether output sizes are rounded up instead of down, so that a last window may
            stick out (default: False)

    >>> taeda.nn.functional.lp_pool2d(taeda.ones(1, 1, 4, 4), 2, 2)
    tensor([[[[2., 2.],
              [2., 2.]]]])
    """
    if (watched or type(input) not in exact) and is_for_others((input,)):
        return call_others(lp_pool2d, (input,))
    return _lp_pool(avg_pool2d, input, norm_type, kernel_size, stride, ceil_mode, 2)


def lp_pool3d(
    input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
) -> Tensor:
    """(sum of x**p)**(1/p) of every window; negative sums count as 0.

    Args:
        input: a batch of shape (N, C, *), or one sample (C, *), with the spatial sizes last
        norm_type: the order of the norm, above 0
        kernel_size: the size of the window, at least 1: an int, or one for each spatial dimension
        stride: the step of the window, at least 1: an int, or one for each of the 3 spatial
            dimensions; None for kernel_size (default: None)
        ceil_mode: whether output sizes are rounded up instead of down, so that a last window may
            stick out (default: False)

    >>> taeda.nn.functional.lp_pool3d(taeda.ones(1, 1, 2, 2, 2), 1, 2)
    tensor([[[[[8.]]]]])
    """
    if (watched or type(input) not in exact) and is_for_others((input,)):
        return call_others(lp_pool3d, (input,))
    return _lp_pool(avg_pool3d, input, norm_type, kernel_size, stride, ceil_mode, 3)


@rounded_once
def _lp_pool(
    average: Any,
    input: Tensor,
    norm_type: float,
    kernel_size: Any,
    stride: Any,
    ceil_mode: bool,
    count: int,
) -> Tensor:
    if norm_type == 0:
        raise ValueError("lp_pool: norm_type is a power whose root is taken, and cannot be 0")
    elements = 1
    for size in sizes_of("kernel_size", kernel_size, count):
        elements *= size
    mean = average(input.pow(norm_type), kernel_size, _or_empty(stride), 0, ceil_mode)
    powers = mean.sign() * mean.abs().relu() * elements
    if norm_type <= 1:
        return powers.pow(1.0 / norm_type)
    zero = powers == 0  # as a norm it has the slope 0 there; the root's would be infinite
    return taeda.where(zero, 0.0, taeda.where(zero, 1.0, powers).pow(1.0 / norm_type))
