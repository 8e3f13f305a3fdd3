"""Losses of classifications: one class of many, yes or no, and several labels at once."""

from __future__ import annotations

import taeda
from taeda import Tensor

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

_nn = taeda._C._nn
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
    """
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

    >>> cross_entropy(taeda.zeros(1, 4), taeda.tensor([2]))
    tensor(1.3863)
    """
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
    """
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
    """
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
    """Binary cross entropy of the logits, averaged over the classes in the last dimension."""
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
    """
    reduction = choose(size_average, reduce, reduction)
    if p not in (1, 2):
        raise ValueError(f"only p == 1 and p == 2 supported, got {p}")
    scores = input.reshape(1, -1) if input.dim() < 2 else input
    if input.dim() > 2 or scores.size(1) == 0:
        raise RuntimeError(
            f"Expected non-empty vector or matrix with optional 0-dim batch size, but got: {list(input.shape)}"
        )
    if target.numel() != scores.size(0) or target.dim() > 1:
        raise RuntimeError(
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of input samples. "
            f"Expected target size [{scores.size(0)}], but got {list(target.shape)}."
        )
    if weight is not None and tuple(weight.shape) != (scores.size(1),):
        raise RuntimeError(
            f"inconsistent weight size, expected {scores.size(1)} but got {list(weight.shape)}"
        )
    index = _class_index(target.reshape(-1), scores.size(1)).unsqueeze(1)
    gap = (margin - scores.gather(1, index) + scores).clamp_min(0)
    gap = gap if p == 1 else gap * gap
    if weight is not None:
        gap = gap * weight[index]
    others = taeda.ones_like(gap).scatter(1, index, 0.0)
    loss = (gap * others).sum(1) / scores.size(1)
    return reduced(loss.reshape(()) if input.dim() < 2 else loss, reduction)


def _class_index(target: Tensor, classes: int) -> Tensor:
    """Class numbers, checked. Raises RuntimeError."""
    if target.dtype != taeda.int64:
        raise RuntimeError(f"expected scalar type Long but found {target.dtype}")
    if not target.is_meta and bool(((target < 0) | (target >= classes)).any()):
        raise RuntimeError(f"target out of range: classes are 0 to {classes - 1}, got {target.tolist()}")
    return target


def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The sum over labels y and other classes of max(0, 1 - x[y] + x[class]), by the number of classes.

    The labels of a sample are those before the first -1 in its row of `target`, whose shape is the input's.
    """
    reduction = choose(size_average, reduce, reduction)
    if input.dim() > 2 or (input.dim() and input.shape[-1] == 0):
        raise RuntimeError(
            f"Expected non-empty vector or matrix with optional 0-dim batch size, but got: {list(input.shape)}"
        )
    if target.shape != input.shape:
        raise RuntimeError(
            f"inconsistent target size: {list(target.shape)} for input of size: {list(input.shape)}"
        )
    if target.dtype != taeda.int64:
        raise RuntimeError(f"expected scalar type Long but found {target.dtype}")
    scores, labels = (t.reshape(1, -1) if t.dim() < 2 else t for t in (input, target))
    classes = scores.size(1)
    if not labels.is_meta and bool(((labels < -1) | (labels >= classes)).any()):
        raise RuntimeError(f"argument #2 'target' is out of range: labels are -1 to {classes - 1}")
    counts = (labels < 0).cumsum(1) == 0  # before the first -1
    index = labels.clamp_min(0)
    is_label = taeda.zeros_like(scores).scatter_add(1, index, counts.to(scores.dtype)) > 0
    gap = (1 - scores.gather(1, index).unsqueeze(2) + scores.unsqueeze(1)).clamp_min(0)
    used = counts.unsqueeze(2) & ~is_label.unsqueeze(1)
    loss = (gap * used.to(gap.dtype)).sum((1, 2)) / classes
    return reduced(loss.reshape(()) if input.dim() < 2 else loss, reduction)
