"""The gradients of convolutions as functions: by the input, whose size the rest does not tell, and
by the weight. They are convolutions themselves, and differentiable.
"""

from __future__ import annotations

from collections.abc import Sequence

import taeda
from taeda import Tensor
from taeda._core_api.operators import nn as _operators

from .modules.utils import _ntuple

__all__ = [
    "conv1d_input", "conv1d_weight", "conv2d_input", "conv2d_weight", "conv3d_input", "conv3d_weight",
]  # fmt: skip

Sizes = int | Sequence[int]


def _gradient(
    rank: int,
    which: int,
    grad_output: Tensor,
    input: Tensor,
    weight: Tensor,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    groups: int,
) -> Tensor:
    listed = _ntuple(rank)
    geometry = (listed(stride), listed(padding), listed(dilation), False, (0,) * rank, groups)
    wanted = [which == 0, which == 1, False]
    return _operators.convolution_backward(grad_output, input, weight, *geometry, wanted)[which]


def _of_size(size: Sequence[int] | None, like: Tensor, what: str) -> Tensor:
    """A tensor of that size which holds one element: its values are not read."""
    if size is None:
        raise ValueError(f"the gradient by the {what} needs its size, got None")
    return taeda.empty(1, dtype=like.dtype, device=like.device).expand(tuple(size))


def _by_input(
    rank: int,
    size: Sequence[int] | None,
    weight: Tensor,
    grad_output: Tensor,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    groups: int,
) -> Tensor:
    input = _of_size(size, grad_output, "input")
    return _gradient(rank, 0, grad_output, input, weight, stride, padding, dilation, groups)


def _by_weight(
    rank: int,
    input: Tensor,
    size: Sequence[int] | None,
    grad_output: Tensor,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    groups: int,
) -> Tensor:
    weight = _of_size(size, grad_output, "weight")
    return _gradient(rank, 1, grad_output, input, weight, stride, padding, dilation, groups)


def conv1d_input(
    input_size: Sequence[int],
    weight: Tensor,
    grad_output: Tensor,
    stride: Sizes = 1,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """The gradient of `conv1d` by its input of size (N, C, L), from that by its result (N, O, L').

    >>> conv1d_input((1, 1, 3), taeda.ones(1, 1, 2), taeda.ones(1, 1, 2)).sum()
    tensor(4.)

    ValueError without a size; RuntimeError where the shapes are not those of one convolution.
    """
    return _by_input(1, input_size, weight, grad_output, stride, padding, dilation, groups)


def conv1d_weight(
    input: Tensor,
    weight_size: Sequence[int],
    grad_output: Tensor,
    stride: Sizes = 1,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """The gradient of `conv1d` by its weight of size (O, C / groups, k), from that by its result.

    >>> conv1d_weight(taeda.ones(1, 1, 3), (1, 1, 2), taeda.ones(1, 1, 2)).sum()
    tensor(4.)

    ValueError without a size; RuntimeError where the shapes are not those of one convolution.
    """
    return _by_weight(1, input, weight_size, grad_output, stride, padding, dilation, groups)


def conv2d_input(
    input_size: Sequence[int],
    weight: Tensor,
    grad_output: Tensor,
    stride: Sizes = 1,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """The gradient of `conv2d` by its input of size (N, C, H, W), from that by its result (N, O, H', W').

    >>> conv2d_input((1, 1, 3, 3), taeda.ones(1, 1, 2, 2), taeda.ones(1, 1, 2, 2)).sum()
    tensor(16.)

    ValueError without a size; RuntimeError where the shapes are not those of one convolution.
    """
    return _by_input(2, input_size, weight, grad_output, stride, padding, dilation, groups)


def conv2d_weight(
    input: Tensor,
    weight_size: Sequence[int],
    grad_output: Tensor,
    stride: Sizes = 1,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """The gradient of `conv2d` by its weight of size (O, C / groups, k, k), from that by its result.

    >>> conv2d_weight(taeda.ones(1, 1, 3, 3), (1, 1, 2, 2), taeda.ones(1, 1, 2, 2)).sum()
    tensor(16.)

    ValueError without a size; RuntimeError where the shapes are not those of one convolution.
    """
    return _by_weight(2, input, weight_size, grad_output, stride, padding, dilation, groups)


def conv3d_input(
    input_size: Sequence[int],
    weight: Tensor,
    grad_output: Tensor,
    stride: Sizes = 1,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """The gradient of `conv3d` by its input of size (N, C, D, H, W), from that by its result.

    >>> conv3d_input((1, 1, 3, 3, 3), taeda.ones(1, 1, 2, 2, 2), taeda.ones(1, 1, 2, 2, 2)).sum()
    tensor(64.)

    ValueError without a size; RuntimeError where the shapes are not those of one convolution.
    """
    return _by_input(3, input_size, weight, grad_output, stride, padding, dilation, groups)


def conv3d_weight(
    input: Tensor,
    weight_size: Sequence[int],
    grad_output: Tensor,
    stride: Sizes = 1,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """The gradient of `conv3d` by its weight of size (O, C / groups, k, k, k), from that by its result.

    >>> conv3d_weight(taeda.ones(1, 1, 3, 3, 3), (1, 1, 2, 2, 2), taeda.ones(1, 1, 2, 2, 2)).sum()
    tensor(64.)

    ValueError without a size; RuntimeError where the shapes are not those of one convolution.
    """
    return _by_weight(3, input, weight_size, grad_output, stride, padding, dilation, groups)
