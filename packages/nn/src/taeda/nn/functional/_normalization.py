"""Normalisation over the batch, over channels, or over the last dimensions."""

from __future__ import annotations

import math
from collections.abc import Sequence

import taeda
from taeda import Tensor
from taeda._core_api.calls import lower_type
from taeda._core_api.doors import call_others, exact, is_for_others, tail, watched
from taeda._core_api.operators import rounded_once

from ._padding import pad

__all__ = [
    "batch_norm",
    "group_norm",
    "instance_norm",
    "layer_norm",
    "local_response_norm",
    "rms_norm",
]

_batch_norm = taeda.batch_norm
_layer_norm = taeda.layer_norm


def _check_several(count: int, shape: Sequence[int]) -> None:
    """A statistic over one value says nothing."""
    if count == 1:
        raise ValueError(
            f"Expected more than 1 value per channel when training, got input size {list(shape)}"
        )


def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Normalise every channel (dimension 1): by the batch in training, else by the running statistics.

    In training the running statistics move towards those of the batch by `momentum`, in place. Raises
    ValueError in training for a single value per channel, or an eps that is not positive.

    Args:
        input: a float tensor of shape (N, C, *): channels in the second dimension
        running_mean: the running means of the channels, of shape (C,), written in training; None
            for none
        running_var: the running variances of the channels, of shape (C,), written in training;
            None for none
        weight: a factor of each normalized channel, of shape (C,); None for ones
        bias: what is added to each normalized channel, of shape (C,); None for nothing
        training: whether the batch's statistics are used and the running ones written; if False
            the running ones are used (default: False)
        momentum: the share of the new statistics in the running ones, from 0 to 1 (default: 0.1)
        eps: a small number added to a divisor, or to what a root or logarithm is taken of, so
            that it stays finite; at least 0 (default: 1e-05)

    >>> x = taeda.tensor([[1.0, 10.0], [3.0, 30.0]])
    >>> mean, var = taeda.zeros(2), taeda.ones(2)
    >>> taeda.nn.functional.batch_norm(x, mean, var, training=True)
    tensor([[-1.0000, -1.0000],
            [ 1.0000,  1.0000]])
    >>> mean
    tensor([0.2000, 2.0000])
    >>> taeda.nn.functional.batch_norm(x, mean, var, training=False).shape
    taeda.Size([2, 2])
    """
    if (
        watched
        or type(input) not in exact
        or type(running_mean) not in exact
        or type(running_var) not in exact
        or type(weight) not in exact
        or type(bias) not in exact
    ) and is_for_others((input, running_mean, running_var, weight, bias)):
        return call_others(batch_norm, (input, running_mean, running_var, weight, bias))
    if eps < 0.0 or (training and eps == 0.0):
        wanted = "positive during training" if training else "non-negative"
        raise ValueError(f"batch_norm eps must be {wanted}, but got {eps}")
    if training:
        _check_several(input.size(0) * math.prod(input.shape[2:]), input.shape)
    return _batch_norm(
        input, weight, bias, running_mean, running_var, training, momentum, eps, True
    )


def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Normalise every channel of every sample: by itself, or by the running statistics.

    Raises ValueError for a single value per channel, RuntimeError if there are no statistics to use.

    Args:
        input: a float tensor of shape (N, C, *): channels in the second dimension
        running_mean: the running means of the channels, of shape (C,), written in training; None
            for none
        running_var: the running variances of the channels, of shape (C,), written in training;
            None for none
        weight: a factor of each normalized channel, of shape (C,); None for ones
        bias: what is added to each normalized channel, of shape (C,); None for nothing
        use_input_stats: whether each sample's own statistics are used; if False the running ones
            (default: True)
        momentum: the share of the new statistics in the running ones, from 0 to 1 (default: 0.1)
        eps: a small number added to a divisor, or to what a root or logarithm is taken of, so
            that it stays finite; at least 0 (default: 1e-05)

    >>> x = taeda.tensor([[[1.0, 3.0], [10.0, 30.0]]])
    >>> taeda.nn.functional.instance_norm(x)
    tensor([[[-1.0000,  1.0000],
             [-1.0000,  1.0000]]])
    """
    if (
        watched
        or type(input) not in exact
        or type(running_mean) not in exact
        or type(running_var) not in exact
        or type(weight) not in exact
        or type(bias) not in exact
    ) and is_for_others((input, running_mean, running_var, weight, bias)):
        return call_others(instance_norm, (input, running_mean, running_var, weight, bias))
    if use_input_stats and math.prod(input.shape[2:]) == 1:
        raise ValueError(
            f"Expected more than 1 spatial element when training, got input size {list(input.shape)}"
        )
    return taeda.instance_norm(
        input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, True
    )


@tail
def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Normalise over the last dimensions, whose sizes are `normalized_shape`. Raises RuntimeError.

    Args:
        input: a float tensor of shape (*, *normalized_shape)
        normalized_shape: the sizes of the last dimensions, over which mean and variance are taken
        weight: a factor of each normalized element, of shape normalized_shape; None for ones
        bias: what is added to each normalized element, of shape normalized_shape; None for
            nothing
        eps: a small number added to a divisor, or to what a root or logarithm is taken of, so
            that it stays finite; at least 0 (default: 1e-05)

    >>> taeda.nn.functional.layer_norm(taeda.tensor([[1.0, 2.0, 3.0]]), (3,))
    tensor([[-1.2247,  0.0000,  1.2247]])
    """
    return _layer_norm(input, normalized_shape, weight, bias, eps)


@tail
def rms_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    eps: float | None = None,
) -> Tensor:
    """Divide by the root of the mean square over the last dimensions; `eps` is the dtype's if None.

    Args:
        input: a float tensor of shape (*, *normalized_shape)
        normalized_shape: the sizes of the last dimensions, over which mean and variance are taken
        weight: a factor of each normalized element, of shape normalized_shape; None for ones
        eps: what is added to the mean of squares; None for the distance from 1 to the next number
            of the dtype

    >>> taeda.nn.functional.rms_norm(taeda.tensor([[3.0, 4.0]]), (2,))
    tensor([[0.8485, 1.1314]])
    """
    return taeda.rms_norm(input, normalized_shape, weight, eps)


def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Normalise groups of channels (dimension 1) of every sample together.

    Raises RuntimeError if the channels do not divide into the groups or there are fewer than 2 dimensions.

    Args:
        input: a float tensor of shape (N, C, *): channels in the second dimension, their number a
            multiple of num_groups
        num_groups: the number of groups of channels, at least 1; divides the number of channels
        weight: a factor of each normalized channel, of shape (C,); None for ones
        bias: what is added to each normalized channel, of shape (C,); None for nothing
        eps: a small number added to a divisor, or to what a root or logarithm is taken of, so
            that it stays finite; at least 0 (default: 1e-05)

    >>> x = taeda.tensor([[[1.0], [3.0], [10.0], [30.0]]])
    >>> taeda.nn.functional.group_norm(x, 2).flatten()
    tensor([-1.0000,  1.0000, -1.0000,  1.0000])
    """
    if (
        watched or type(input) not in exact or type(weight) not in exact or type(bias) not in exact
    ) and is_for_others((input, weight, bias)):
        return call_others(group_norm, (input, weight, bias))
    if input.dim() < 2:
        raise RuntimeError(
            f"Expected at least 2 dimensions for input tensor but received {input.dim()}"
        )
    _check_several(
        input.size(0)
        * (input.size(1) // num_groups if num_groups else 0)
        * math.prod(input.shape[2:]),
        input.shape,
    )
    return taeda.group_norm(input, num_groups, weight, bias, eps)


def local_response_norm(
    input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Tensor:
    """x / (k + alpha · mean of the squares of `size` neighbouring channels)**beta.

    Raises ValueError for fewer than 3 dimensions, RuntimeError for a size that is not positive.

    Args:
        input: a float tensor of any shape
        size: how many neighbouring channels are summed
        alpha: the factor of the mean of squares (default: 0.0001)
        beta: the power of the divisor (default: 0.75)
        k: what is added in the divisor (default: 1.0)

    >>> taeda.nn.functional.local_response_norm(taeda.ones(1, 3, 1), 2, alpha=1.0).flatten()
    tensor([0.7378, 0.5946, 0.5946])
    """
    if (watched or type(input) not in exact) and is_for_others((input,)):
        return call_others(local_response_norm, (input,))
    if input.dim() < 3:
        raise ValueError(
            f"Expected 3D or higher dimensionality input (got {input.dim()} dimensions)"
        )
    if size <= 0:
        raise RuntimeError(f"local_response_norm: size should be greater than zero, but got {size}")
    if input.numel() == 0:
        return input
    if input.dim() > 3 and input.dtype is lower_type():
        # the mean over channels of images is among what autocast does in float32
        input = input.float()
    return _by_neighbours(input, size, alpha, beta, k)


@rounded_once
def _by_neighbours(input: Tensor, size: int, alpha: float, beta: float, k: float) -> Tensor:
    square = (input * input).flatten(2).transpose(1, 2)
    padded = pad(square, (size // 2, (size - 1) // 2))
    mean = padded.unfold(-1, size, 1).mean(-1).transpose(1, 2).reshape(input.shape)
    return input / (mean * alpha + k).pow(beta)
