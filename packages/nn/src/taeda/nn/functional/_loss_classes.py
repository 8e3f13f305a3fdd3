"""Losses of classifications: one class of many, yes or no, and several labels at once."""

from __future__ import annotations

import taeda
from taeda import Tensor
from taeda._core_api.doors import call_others, exact, is_for_others, watched
from taeda._core_api.operators import nn as _nn

from ._reduction import choose, code
from ._reduction import reduce as reduced

__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cross_entropy",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "nll_loss",
]

_cross_entropy = _nn.cross_entropy_loss


def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """-x[target] of log-probabilities (N, C, ...) or (C); targets equal to `ignore_index` do not count.

    The mean is over the weights of the targets. Raises ValueError for a target of another size,
    IndexError for a class that does not exist.

    Args:
        input: logarithms of probabilities: (N, C), (N, C, d1, ...) or (C,)
        target: the right classes, int64 from 0 to C - 1: the input's shape without the dimension
            of classes
        weight: a factor of the loss of each class, a float vector of shape (C,); None for ones
        size_average: False for a sum instead of a mean, as torch's older form has it; None to go
            by reduction
        ignore_index: the class whose targets count nothing, neither in the sum nor in the mean's
            divisor (default: -100)
        reduce: False for the loss of each element, as torch's older form has it; None to go by
            reduction
        reduction: 'none' for the loss of each element, 'mean' for their mean, 'sum' for their sum
            (default: 'mean')

    >>> log_p = taeda.tensor([[0.7, 0.3], [0.2, 0.8]]).log()
    >>> taeda.nn.functional.nll_loss(log_p, taeda.tensor([0, 1]))
    tensor(0.2899)
    """
    if (
        watched
        or type(input) not in exact
        or type(target) not in exact
        or type(weight) not in exact
    ) and is_for_others((input, target, weight)):
        return call_others(nll_loss, (input, target, weight))
    reduction = choose(size_average, reduce, reduction)
    return _nn.nll_loss_nd(input, target, weight, code(reduction), ignore_index)


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """`nll_loss` of the log-softmax over the classes; a target of the input's shape holds probabilities.

    `label_smoothing` mixes the target with a uniform distribution.

    Args:
        input: scores of the classes, not normalized: (N, C), (N, C, d1, ...) or (C,)
        target: the right classes, int64 from 0 to C - 1, of the input's shape without the
            dimension of classes; or probabilities of its shape
        weight: a factor of the loss of each class, a float vector of shape (C,); None for ones
        size_average: False for a sum instead of a mean, as torch's older form has it; None to go
            by reduction
        ignore_index: the class whose targets count nothing, neither in the sum nor in the mean's
            divisor (default: -100)
        reduce: False for the loss of each element, as torch's older form has it; None to go by
            reduction
        reduction: 'none' for the loss of each element, 'mean' for their mean, 'sum' for their sum
            (default: 'mean')
        label_smoothing: the share of the target that is spread evenly over all classes, from 0 to
            1 (default: 0.0)

    >>> cross_entropy(taeda.zeros(1, 4), taeda.tensor([2]))
    tensor(1.3863)
    """
    if (
        watched
        or type(input) not in exact
        or type(target) not in exact
        or type(weight) not in exact
    ) and is_for_others((input, target, weight)):
        return call_others(cross_entropy, (input, target, weight))
    if size_average is not None or reduce is not None:
        reduction = choose(size_average, reduce, reduction)
    return _cross_entropy(input, target, weight, code(reduction), ignore_index, label_smoothing)


def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """-(target · log x + (1 - target) · log(1 - x)), logarithms held above -100.

    Raises ValueError if the sizes differ, RuntimeError for values outside of [0, 1].

    Args:
        input: probabilities from 0 to 1, a float tensor of any shape
        target: the right probabilities, from 0 to 1, a float tensor of the input's shape
        weight: a factor of each element's loss; broadcasts with the target. None for ones
        size_average: False for a sum instead of a mean, as torch's older form has it; None to go
            by reduction
        reduce: False for the loss of each element, as torch's older form has it; None to go by
            reduction
        reduction: 'none' for the loss of each element, 'mean' for their mean, 'sum' for their sum
            (default: 'mean')

    >>> p = taeda.tensor([0.9, 0.2])
    >>> taeda.nn.functional.binary_cross_entropy(p, taeda.tensor([1.0, 0.0]))
    tensor(0.1643)
    """
    if (
        watched
        or type(input) not in exact
        or type(target) not in exact
        or type(weight) not in exact
    ) and is_for_others((input, target, weight)):
        return call_others(binary_cross_entropy, (input, target, weight))
    reduction = choose(size_average, reduce, reduction)
    if target.shape != input.shape:
        raise ValueError(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}) is "
            "deprecated. Please ensure they have the same size."
        )
    if weight is not None:
        weight = weight.expand(taeda.broadcast_shapes(target.shape, weight.shape))
    return _nn.binary_cross_entropy(input, target, weight, code(reduction))


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """`binary_cross_entropy` of sigmoid(x), stable for large x; `pos_weight` scales the positive part.

    Raises ValueError if the sizes differ.

    Args:
        input: scores, of which the sigmoid is the probability; a float tensor of any shape
        target: the right probabilities, from 0 to 1, a float tensor of the input's shape
        weight: a factor of each element's loss; broadcasts with the target. None for ones
        size_average: False for a sum instead of a mean, as torch's older form has it; None to go
            by reduction
        reduce: False for the loss of each element, as torch's older form has it; None to go by
            reduction
        reduction: 'none' for the loss of each element, 'mean' for their mean, 'sum' for their sum
            (default: 'mean')
        pos_weight: a factor of the loss where the target is 1; broadcasts with it. None for 1

    >>> scores = taeda.tensor([2.0, -1.0, 0.0])
    >>> target = taeda.tensor([1.0, 0.0, 1.0])
    >>> taeda.nn.functional.binary_cross_entropy_with_logits(scores, target)
    tensor(0.3778)
    """
    if (
        watched
        or type(input) not in exact
        or type(target) not in exact
        or type(weight) not in exact
        or type(pos_weight) not in exact
    ) and is_for_others((input, target, weight, pos_weight)):
        return call_others(binary_cross_entropy_with_logits, (input, target, weight, pos_weight))
    reduction = choose(size_average, reduce, reduction)
    if target.shape != input.shape:
        raise ValueError(
            f"Target size ({target.shape}) must be the same as input size ({input.shape})"
        )
    return taeda.binary_cross_entropy_with_logits(
        input, target, weight, pos_weight, code(reduction)
    )


def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Binary cross entropy of the logits, averaged over the classes in the last dimension.

    Args:
        input: scores, of shape (N, C) or (C,)
        target: 1 for right classes and 0 for wrong ones, of the input's shape
        weight: a factor of each class or element; None for ones
        size_average: False for a sum instead of a mean, as torch's older form has it; None to go
            by reduction
        reduce: False for the loss of each element, as torch's older form has it; None to go by
            reduction
        reduction: 'none' for the loss of each element, 'mean' for their mean, 'sum' for their sum
            (default: 'mean')

    >>> scores, labels = taeda.tensor([[2.0, -1.0]]), taeda.tensor([[1.0, 0.0]])
    >>> taeda.nn.functional.multilabel_soft_margin_loss(scores, labels)
    tensor(0.2201)
    """
    if (
        watched
        or type(input) not in exact
        or type(target) not in exact
        or type(weight) not in exact
    ) and is_for_others((input, target, weight)):
        return call_others(multilabel_soft_margin_loss, (input, target, weight))
    reduction = choose(size_average, reduce, reduction)
    log_sigmoid = _nn.log_sigmoid
    loss = -(target * log_sigmoid(input) + (1 - target) * log_sigmoid(-input))
    if weight is not None:
        loss = loss * weight
    return reduced(loss.mean(input.dim() - 1), reduction)


def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The sum over wrong classes of max(0, margin - x[target] + x[class])**p, by the number of classes.

    Input (N, C) or (C). Raises ValueError for another p, RuntimeError where the shapes do not fit.

    Args:
        input: scores, of shape (N, C) or (C,)
        target: the right classes, int64 from 0 to C - 1: the input's shape without the dimension
            of classes
        p: the power of the hinge, 1 or 2 (default: 1)
        margin: the distance that is asked for; what is further apart costs nothing (default: 1.0)
        weight: a factor of the loss of each class, a float vector of shape (C,); None for ones
        size_average: False for a sum instead of a mean, as torch's older form has it; None to go
            by reduction
        reduce: False for the loss of each element, as torch's older form has it; None to go by
            reduction
        reduction: 'none' for the loss of each element, 'mean' for their mean, 'sum' for their sum
            (default: 'mean')

    >>> scores = taeda.tensor([[0.1, 0.2, 0.8]])
    >>> taeda.nn.functional.multi_margin_loss(scores, taeda.tensor([2]))
    tensor(0.2333)
    """
    if (
        watched
        or type(input) not in exact
        or type(target) not in exact
        or type(weight) not in exact
    ) and is_for_others((input, target, weight)):
        return call_others(multi_margin_loss, (input, target, weight))
    reduction = choose(size_average, reduce, reduction)
    if p not in (1, 2):
        raise ValueError(f"only p == 1 and p == 2 supported, got {p}")
    if weight is not None and weight.dim() != 1:
        raise ValueError(f"weight must be one-dimensional, got {weight.dim()} dimensions")
    return _nn.multi_margin_loss(input, target, p, margin, weight, code(reduction))


def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The sum over labels y and other classes of max(0, 1 - x[y] + x[class]), by the number of classes.

    The labels of a sample are those before the first -1 in its row of `target`, whose shape is the input's.

    Args:
        input: scores, of shape (N, C) or (C,)
        target: the right classes of each row, int64, ended by the first -1
        size_average: False for a sum instead of a mean, as torch's older form has it; None to go
            by reduction
        reduce: False for the loss of each element, as torch's older form has it; None to go by
            reduction
        reduction: 'none' for the loss of each element, 'mean' for their mean, 'sum' for their sum
            (default: 'mean')

    >>> scores, labels = taeda.tensor([[0.1, 0.2, 0.4, 0.8]]), taeda.tensor([[3, 0, -1, 1]])
    >>> taeda.nn.functional.multilabel_margin_loss(scores, labels)
    tensor(0.8500)
    """
    if (watched or type(input) not in exact or type(target) not in exact) and is_for_others(
        (input, target)
    ):
        return call_others(multilabel_margin_loss, (input, target))
    reduction = choose(size_average, reduce, reduction)
    return _nn.multilabel_margin_loss(input, target, code(reduction))
