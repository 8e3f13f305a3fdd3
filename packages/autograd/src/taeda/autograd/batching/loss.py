"""Losses: of single elements first, then reduced within each sample.
`reduction` is 0 for none, 1 mean, 2 sum.
"""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor

from ._batched import Level, batched, rank
from ._registry import Decline, rule
from .pointwise import lined_up

__all__: list[str] = []

MEAN, SUM = 1, 2


def _known(reduction: Any) -> None:
    """Decline where the function itself has to say that there is no such reduction."""
    if reduction not in (0, MEAN, SUM):
        raise Decline


def _reduced(level: Level, loss: Any, reduction: int) -> Any:
    _known(reduction)
    whole: Any = batched(loss, level.number)
    if reduction == MEAN:
        whole = whole.mean()
    elif reduction == SUM:
        whole = whole.sum()
    return level.value(whole)


@rule("mse_loss", "l1_loss", "_l1_loss", "soft_margin_loss")
def _pair(level: Level, func: Any, x: Any, y: Any, reduction: int = MEAN) -> Any:
    (a, b), _ = lined_up(level, (x, y), {})
    return _reduced(level, func(*taeda.broadcast_tensors(a, b), 0), reduction)


@rule("smooth_l1_loss", "huber_loss")
def _with_width(
    level: Level, func: Any, x: Any, y: Any, reduction: int = MEAN, width: float = 1.0
) -> Any:
    (a, b), _ = lined_up(level, (x, y), {})
    return _reduced(level, func(*taeda.broadcast_tensors(a, b), 0, width), reduction)


@rule("binary_cross_entropy", "binary_cross_entropy_with_logits")
def _yes_or_no(level: Level, func: Any, x: Any, y: Any, weight: Any = None, *args: Any) -> Any:
    *more, reduction = args or (MEAN,)
    if type(reduction) is not int or any(m is not None for m in more) or x.shape != y.shape:
        raise Decline
    if weight is not None:
        raise Decline
    whole = [level.full(x), level.full(y)]
    return _reduced(level, func(*whole, None, *([None] * len(more)), 0), reduction)


@rule("cross_entropy_loss", "nll_loss_nd", "nll_loss")
def _classes(
    level: Level,
    func: Any,
    x: Any,
    target: Any,
    weight: Any = None,
    reduction: int = MEAN,
    ignore_index: int = -100,
    *smoothing: Any,
) -> Any:
    """With one class an element; the mean is over those that count."""
    if weight is not None or not isinstance(target, Tensor) or target.is_floating_point():
        raise Decline
    own = rank(x)
    if own == 0 or rank(target) != max(own - 1, 0):
        raise Decline
    scores, classes = level.full(x), level.full(target)
    if own > 1:
        scores, classes = (v.reshape(-1, *v.shape[2:]) for v in (scores, classes))
    _known(reduction)
    loss = func(scores, classes, None, 0, ignore_index, *smoothing)
    if own > 1:
        loss = loss.reshape(level.size, -1, *loss.shape[1:])
    if reduction not in (MEAN, SUM):
        return loss
    dims = list(range(1, rank(loss)))
    total = loss.sum(dims) if dims else loss
    if reduction == SUM:
        return total
    counted = (level.full(target) != ignore_index).to(total.dtype)
    return total / (counted.sum(dims) if dims else counted)
