"""Losses between an input and a target of the same kind."""

from __future__ import annotations

import math
from functools import partial

import taeda
from taeda import Tensor
from taeda._core_api import warn
from taeda._core_api.doors import call_others, exact, is_for_others, watched
from taeda._core_api.operators import nn as _nn
from taeda._core_api.operators import rounded_once

from ._reduction import choose, code
from ._reduction import reduce as reduced

__all__ = [
    "gaussian_nll_loss",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "mse_loss",
    "poisson_nll_loss",
    "smooth_l1_loss",
]

_mse_loss, _l1_loss = _nn.mse_loss, _nn.l1_loss


def _warn_of_broadcast(input: Tensor, target: Tensor) -> None:
    if target.shape != input.shape:
        warn(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}). "
            "This will likely lead to incorrect results due to broadcasting. Please ensure they have the "
            "same size.",
        )


def _weighted(
    loss: Tensor, weight: Tensor, input: Tensor, reduction: str, *, average: bool
) -> Tensor:
    """Losses times weights; their mean is over the weights if `average`, else over the elements."""
    if weight.shape != input.shape:
        raise ValueError(
            f"Weights and input must have the same size, got {tuple(weight.shape)} and {tuple(input.shape)}."
        )
    loss = loss * weight
    if reduction == "mean" and average:
        return loss.sum() / weight.sum()
    return reduced(loss, reduction)


def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """(x - target)². A weighted mean is over the weights. Warns if the sizes differ.

    Args:
        input: the predictions, a float tensor
        target: what the predictions should be, of their shape
        size_average: False for a sum instead of a mean, as torch's older form has it; None to go
            by reduction
        reduce: False for the loss of each element, as torch's older form has it; None to go by
            reduction
        reduction: 'none' for the loss of each element, 'mean' for their mean, 'sum' for their sum
            (default: 'mean')
        weight: a factor of each class or element; None for ones

    >>> taeda.nn.functional.mse_loss(taeda.tensor([1.0, 2.0]), taeda.tensor([1.0, 5.0]))
    tensor(4.5000)
    """
    if (
        watched
        or type(input) not in exact
        or type(target) not in exact
        or type(weight) not in exact
    ) and is_for_others((input, target, weight)):
        return call_others(mse_loss, (input, target, weight))
    _warn_of_broadcast(input, target)
    reduction = choose(size_average, reduce, reduction)
    if weight is None:
        return _mse_loss(*_expanded(input, target), code(reduction))
    loss = _mse_loss(*_expanded(input, target), 0)
    return _weighted(loss, weight, input, reduction, average=True)


def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """|x - target|. A weighted mean is over the weights. Warns if the sizes differ.

    Args:
        input: the predictions, a float tensor
        target: what the predictions should be, of their shape
        size_average: False for a sum instead of a mean, as torch's older form has it; None to go
            by reduction
        reduce: False for the loss of each element, as torch's older form has it; None to go by
            reduction
        reduction: 'none' for the loss of each element, 'mean' for their mean, 'sum' for their sum
            (default: 'mean')
        weight: a factor of each class or element; None for ones

    >>> taeda.nn.functional.l1_loss(taeda.tensor([1.0, 2.0]), taeda.tensor([1.0, 5.0]))
    tensor(1.5000)
    """
    if (
        watched
        or type(input) not in exact
        or type(target) not in exact
        or type(weight) not in exact
    ) and is_for_others((input, target, weight)):
        return call_others(l1_loss, (input, target, weight))
    _warn_of_broadcast(input, target)
    reduction = choose(size_average, reduce, reduction)
    if weight is None:
        return _l1_loss(*_expanded(input, target), code(reduction))
    loss = _l1_loss(*_expanded(input, target), 0)
    return _weighted(loss, weight, input, reduction, average=True)


def _expanded(input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    if input.shape == target.shape:
        return input, target
    try:
        shape = taeda.broadcast_shapes(input.shape, target.shape)
    except MemoryError:
        raise
    except RuntimeError as error:  # which names a function that nobody called
        said = str(error).removeprefix("broadcast_shapes: ")
        raise RuntimeError(f"{said}, the shapes of input and target") from None
    return input.expand(shape), target.expand(shape)


def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    """Half the square over beta where |x - target| < beta, else the distance less beta / 2.

    Raises RuntimeError for a negative beta.

    Args:
        input: the predictions, a float tensor
        target: what the predictions should be, of their shape
        size_average: False for a sum instead of a mean, as torch's older form has it; None to go
            by reduction
        reduce: False for the loss of each element, as torch's older form has it; None to go by
            reduction
        reduction: 'none' for the loss of each element, 'mean' for their mean, 'sum' for their sum
            (default: 'mean')
        beta: below this distance the loss is a square, above it a line; at least 0 (default: 1.0)

    >>> x, y = taeda.tensor([0.5, 3.0]), taeda.zeros(2)
    >>> taeda.nn.functional.smooth_l1_loss(x, y, reduction="none")
    tensor([0.1250, 2.5000])
    """
    if (watched or type(input) not in exact or type(target) not in exact) and is_for_others(
        (input, target)
    ):
        return call_others(smooth_l1_loss, (input, target))
    _warn_of_broadcast(input, target)
    reduction = choose(size_average, reduce, reduction)
    return _nn.smooth_l1_loss(*_expanded(input, target), code(reduction), beta)


def huber_loss(
    input: Tensor,
    target: Tensor,
    reduction: str = "mean",
    delta: float = 1.0,
    weight: Tensor | None = None,
) -> Tensor:
    """Half the square where |x - target| < delta, else delta times the distance less delta / 2.

    Raises RuntimeError unless delta is positive.

    Args:
        input: the predictions, a float tensor
        target: what the predictions should be, of their shape
        reduction: 'none' for the loss of each element, 'mean' for their mean, 'sum' for their sum
            (default: 'mean')
        delta: below this distance the loss is a square, above it a line; above 0 (default: 1.0)
        weight: a factor of each class or element; None for ones

    >>> x, y = taeda.tensor([0.5, 3.0]), taeda.zeros(2)
    >>> taeda.nn.functional.huber_loss(x, y, reduction="none")
    tensor([0.1250, 2.5000])
    """
    if (
        watched
        or type(input) not in exact
        or type(target) not in exact
        or type(weight) not in exact
    ) and is_for_others((input, target, weight)):
        return call_others(huber_loss, (input, target, weight))
    _warn_of_broadcast(input, target)
    if weight is None:
        return _nn.huber_loss(*_expanded(input, target), code(reduction), delta)
    loss = _nn.huber_loss(*_expanded(input, target), 0, delta)
    return _weighted(loss, weight, input, reduction, average=False)


def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """target · (log target - x), where x are log-probabilities; "batchmean" divides by the batch alone.

    Args:
        input: logarithms of the predicted probabilities, a float tensor
        target: the right probabilities, or their logarithms, of the input's shape
        size_average: False for a sum instead of a mean, as torch's older form has it; None to go
            by reduction
        reduce: False for the loss of each element, as torch's older form has it; None to go by
            reduction
        reduction: 'none' for the loss of each element, 'mean' for their mean, 'sum' for their sum
            (default: 'mean')
        log_target: whether the target holds logarithms of probabilities (default: False)

    >>> log_p = taeda.tensor([[0.5, 0.5]]).log()
    >>> q = taeda.tensor([[0.9, 0.1]])
    >>> taeda.nn.functional.kl_div(log_p, q, reduction="batchmean")
    tensor(0.3681)
    """
    if (watched or type(input) not in exact or type(target) not in exact) and is_for_others(
        (input, target)
    ):
        return call_others(kl_div, (input, target))
    if reduction == "mean" and size_average is None and reduce is None:
        warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size."
            "'batchmean' divides only by the batch size, and aligns with the KL div math definition.",
        )
    batch = reduction == "batchmean"
    reduction = choose(size_average, reduce, "sum" if batch else reduction)
    result = taeda.kl_div(input, target, code(reduction), log_target=log_target)
    return result / input.size(0) if batch and input.dim() else result


def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """exp(x) - target · x, or without `log_input` x - target · log(x + eps); `full` adds Stirling's term.

    Args:
        input: the rates that were predicted, or their logarithms, a float tensor of any shape
        target: the counts, a tensor of the input's shape
        log_input: whether the input holds logarithms of the rates (default: True)
        full: whether the constant terms of Stirling's approximation are added (default: False)
        size_average: False for a sum instead of a mean, as torch's older form has it; None to go
            by reduction
        eps: what is added to the input before the logarithm, if log_input is False (default:
            1e-08)
        reduce: False for the loss of each element, as torch's older form has it; None to go by
            reduction
        reduction: 'none' for the loss of each element, 'mean' for their mean, 'sum' for their sum
            (default: 'mean')

    >>> rate = taeda.tensor([1.0, 2.0])
    >>> taeda.nn.functional.poisson_nll_loss(rate.log(), taeda.tensor([1.0, 3.0]))
    tensor(0.4603)
    """
    if (watched or type(input) not in exact or type(target) not in exact) and is_for_others(
        (input, target)
    ):
        return call_others(poisson_nll_loss, (input, target))
    reduction = choose(size_average, reduce, reduction)
    return taeda.poisson_nll_loss(input, target, log_input, full, eps, code(reduction))


def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor | float,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """(log var + (x - target)² / var) / 2; `full` adds log(2π) / 2. The variance counts as at least `eps`.

    Raises ValueError for a negative variance, or one whose size is not that of x, with 1 for one dimension or
    without the last one.

    Args:
        input: the means that were predicted, a float tensor of any shape
        target: what the predictions should be, of their shape
        var: the variances that were predicted, at least 0, of the input's shape or with size 1,
            or none, for the last dimension
        full: whether the constant terms are added to the loss (default: False)
        eps: a small number that keeps divisors and logarithms away from 0 (default: 1e-06)
        reduction: 'none' for the loss of each element, 'mean' for their mean, 'sum' for their sum
            (default: 'mean')

    >>> mean, seen = taeda.tensor([0.0, 1.0]), taeda.tensor([0.0, 3.0])
    >>> taeda.nn.functional.gaussian_nll_loss(mean, seen, taeda.tensor([1.0, 4.0]))
    tensor(0.5966)
    """
    if (
        watched or type(input) not in exact or type(target) not in exact or type(var) not in exact
    ) and is_for_others((input, target, var)):
        return call_others(gaussian_nll_loss, (input, target, var))
    variance = _variance(input, var)
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not valid")
    if not variance.is_meta and bool((variance < 0).any()):
        raise ValueError("var has negative entry/entries")
    return _of_gaussians(input, target, variance, full, eps, reduction)


@partial(rounded_once, of=3)
def _of_gaussians(
    input: Tensor, target: Tensor, variance: Tensor, full: bool, eps: float, reduction: str
) -> Tensor:
    # derivatives ignore the lower limit, tangents too
    variance = variance + (eps - variance.detach()).clamp_min(0)
    loss = 0.5 * (variance.log() + (input - target).square() / variance)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return reduced(loss, reduction)


def _variance(input: Tensor, var: Tensor | float) -> Tensor:
    if not isinstance(var, Tensor):
        if var < 0:
            raise ValueError(f"var has negative entry/entries: {var}")
        return var * taeda.ones_like(input)
    if var.shape == input.shape:
        return var
    if var.shape == input.shape[:-1]:
        return var.unsqueeze(-1)
    if var.dim() == input.dim():
        different = [v for v, n in zip(var.shape, input.shape, strict=True) if v != n]
        if different == [1]:  # one dimension broadcasts
            return var
    raise ValueError(f"var is of incorrect size: {tuple(var.shape)} for input {tuple(input.shape)}")
