"""Losses that compare pairs and triples of inputs, or an input with a sign."""

from __future__ import annotations

from collections.abc import Callable

import taeda
from taeda import Tensor
from taeda._core_api.doors import call_others, exact, is_for_others, watched
from taeda._core_api.operators import nn as _nn

from ._distance import pairwise_distance
from ._reduction import choose, code
from ._reduction import reduce as reduced

__all__ = [
    "cosine_embedding_loss",
    "hinge_embedding_loss",
    "margin_ranking_loss",
    "soft_margin_loss",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
]


def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """log(1 + exp(-target · x)), where targets are 1 or -1.

    Args:
        input: the predictions, a float tensor
        target: 1 or -1 for each sample
        size_average: False for a sum instead of a mean, as torch's older form has it; None to go
            by reduction
        reduce: False for the loss of each element, as torch's older form has it; None to go by
            reduction
        reduction: 'none' for the loss of each element, 'mean' for their mean, 'sum' for their sum
            (default: 'mean')

    >>> scores, signs = taeda.tensor([2.0, -1.0]), taeda.tensor([1.0, -1.0])
    >>> taeda.nn.functional.soft_margin_loss(scores, signs)
    tensor(0.2201)
    """
    if (watched or type(input) not in exact or type(target) not in exact) and is_for_others(
        (input, target)
    ):
        return call_others(soft_margin_loss, (input, target))
    reduction = choose(size_average, reduce, reduction)
    return _nn.soft_margin_loss(input, target, code(reduction))


def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """x where the target is 1, max(0, margin - x) where it is -1.

    Args:
        input: distances, a float tensor of any shape
        target: 1 or -1 for each sample
        margin: the distance that is asked for; what is further apart costs nothing (default: 1.0)
        size_average: False for a sum instead of a mean, as torch's older form has it; None to go
            by reduction
        reduce: False for the loss of each element, as torch's older form has it; None to go by
            reduction
        reduction: 'none' for the loss of each element, 'mean' for their mean, 'sum' for their sum
            (default: 'mean')

    >>> distance, alike = taeda.tensor([0.25, 0.25]), taeda.tensor([1.0, -1.0])
    >>> taeda.nn.functional.hinge_embedding_loss(distance, alike, reduction="none")
    tensor([0.2500, 0.7500])
    """
    if (watched or type(input) not in exact or type(target) not in exact) and is_for_others(
        (input, target)
    ):
        return call_others(hinge_embedding_loss, (input, target))
    reduction = choose(size_average, reduce, reduction)
    return taeda.hinge_embedding_loss(input, target, margin, code(reduction))


def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """max(0, -target · (x1 - x2) + margin): a target of 1 wants x1 to be the larger.

    Raises RuntimeError unless all have the same number of dimensions.

    Args:
        input1: the first scores, of any shape
        input2: the second scores, of the same shape
        target: 1 or -1 for each sample
        margin: the distance that is asked for; what is further apart costs nothing (default: 0)
        size_average: False for a sum instead of a mean, as torch's older form has it; None to go
            by reduction
        reduce: False for the loss of each element, as torch's older form has it; None to go by
            reduction
        reduction: 'none' for the loss of each element, 'mean' for their mean, 'sum' for their sum
            (default: 'mean')

    >>> a, b = taeda.tensor([2.0, 1.0]), taeda.tensor([1.0, 2.0])
    >>> first_is_better = taeda.tensor([1.0, 1.0])
    >>> taeda.nn.functional.margin_ranking_loss(a, b, first_is_better, reduction="none")
    tensor([0., 1.])
    """
    if (
        watched
        or type(input1) not in exact
        or type(input2) not in exact
        or type(target) not in exact
    ) and is_for_others((input1, input2, target)):
        return call_others(margin_ranking_loss, (input1, input2, target))
    reduction = choose(size_average, reduce, reduction)
    if not input1.dim() == input2.dim() == target.dim():
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: "
            f"{input1.shape}, input2: {input2.shape}, target: {target.shape} "
        )
    return taeda.margin_ranking_loss(input1, input2, target, margin, code(reduction))


def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """1 - cos where the target is 1, max(0, cos - margin) where it is -1.

    Inputs (N, D) with targets (N), or (D) with one target. Raises RuntimeError for other ranks.

    Args:
        input1: the first vectors, of shape (N, D) or (D,)
        input2: the second vectors, of the shape of input1
        target: 1 or -1 for each sample
        margin: the cosine up to which dissimilar vectors cost nothing, from -1 to 1 (default: 0)
        size_average: False for a sum instead of a mean, as torch's older form has it; None to go
            by reduction
        reduce: False for the loss of each element, as torch's older form has it; None to go by
            reduction
        reduction: 'none' for the loss of each element, 'mean' for their mean, 'sum' for their sum
            (default: 'mean')

    >>> a, b = taeda.tensor([[1.0, 0.0], [1.0, 0.0]]), taeda.tensor([[1.0, 0.0], [1.0, 1.0]])
    >>> alike = taeda.tensor([1, -1])
    >>> taeda.nn.functional.cosine_embedding_loss(a, b, alike, reduction="none")
    tensor([0.0000, 0.7071])
    """
    if (
        watched
        or type(input1) not in exact
        or type(input2) not in exact
        or type(target) not in exact
    ) and is_for_others((input1, input2, target)):
        return call_others(cosine_embedding_loss, (input1, input2, target))
    reduction = choose(size_average, reduce, reduction)
    return taeda.cosine_embedding_loss(input1, input2, target, margin, code(reduction))


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """max(0, margin + |anchor - positive| - |anchor - negative|) of p-norms over the last dimension.

    With `swap` the negative's distance is the smaller of those to the anchor and to the positive. Raises
    ValueError unless the margin is positive, RuntimeError if the ranks differ.

    Args:
        anchor: the samples that distances are measured from, of shape (N, D) or (D,)
        positive: samples of the same class, of the shape of anchor
        negative: samples of another class, of the shape of anchor
        margin: the distance that is asked for; what is further apart costs nothing (default: 1.0)
        p: the order of the norm that measures distance (default: 2)
        eps: what is added to differences before the norm (default: 1e-06)
        swap: whether the distance from positive to negative counts where it is less than that
            from anchor (default: False)
        size_average: False for a sum instead of a mean, as torch's older form has it; None to go
            by reduction
        reduce: False for the loss of each element, as torch's older form has it; None to go by
            reduction
        reduction: 'none' for the loss of each element, 'mean' for their mean, 'sum' for their sum
            (default: 'mean')

    >>> anchor, near, far = taeda.zeros(1, 2), taeda.ones(1, 2), taeda.full((1, 2), 1.5)
    >>> taeda.nn.functional.triplet_margin_loss(anchor, near, far)
    tensor(0.2929)
    """
    if (
        watched
        or type(anchor) not in exact
        or type(positive) not in exact
        or type(negative) not in exact
    ) and is_for_others((anchor, positive, negative)):
        return call_others(triplet_margin_loss, (anchor, positive, negative))
    reduction = choose(size_average, reduce, reduction)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    return taeda.triplet_margin_loss(
        anchor, positive, negative, margin, p, eps, swap, code(reduction)
    )


def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """`triplet_margin_loss` with a distance of one's own (the 2-norm if None).

    Args:
        anchor: the samples that distances are measured from, of shape (N, D)
        positive: samples of the same class, of the shape of anchor
        negative: samples of another class, of the shape of anchor
        distance_function: a function of two tensors of samples that gives their distances; the
            Euclidean one if None
        margin: the distance that is asked for; what is further apart costs nothing (default: 1.0)
        swap: whether the distance from positive to negative counts where it is less than that
            from anchor (default: False)
        reduction: 'none' for the loss of each element, 'mean' for their mean, 'sum' for their sum
            (default: 'mean')

    >>> anchor, near, far = taeda.zeros(1, 2), taeda.ones(1, 2), taeda.full((1, 2), 1.5)
    >>> taeda.nn.functional.triplet_margin_with_distance_loss(
    ...     anchor, near, far, distance_function=lambda a, b: (a - b).abs().sum(-1)
    ... )
    tensor(0.)
    """
    if (
        watched
        or type(anchor) not in exact
        or type(positive) not in exact
        or type(negative) not in exact
        or type(distance_function) not in exact
    ) and is_for_others((anchor, positive, negative, distance_function)):
        return call_others(
            triplet_margin_with_distance_loss, (anchor, positive, negative, distance_function)
        )
    code(reduction)
    distance = pairwise_distance if distance_function is None else distance_function
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    if not anchor.dim() == positive.dim() == negative.dim():
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, "
            f"but got: anchor {anchor.dim()}D, positive {positive.dim()}D, and negative "
            f"{negative.dim()}D inputs"
        )
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = taeda.minimum(far, distance(positive, negative))
    return reduced((margin + near - far).clamp_min(0), reduction)
