"""How the losses of single elements become a result: not at all, by their mean, or by their sum."""

from __future__ import annotations

from taeda import Tensor
from taeda._core_api import warn

__all__ = ["choose", "code", "legacy", "reduce"]

_CODES = {"none": 0, "mean": 1, "sum": 2}


def code(reduction: str) -> int:
    """The number by which operations know a reduction. Raises ValueError for an unknown name."""
    if reduction not in _CODES:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return _CODES[reduction]


def legacy(size_average: bool | None, reduce: bool | None) -> str:
    """The reduction that two flags of former times mean, with a warning."""
    if reduce is False:
        chosen = "none"
    else:
        chosen = "sum" if size_average is False else "mean"
    warn(
        f"size_average and reduce args will be deprecated, please use reduction='{chosen}' instead.",
    )
    return chosen


def choose(size_average: bool | None, reduce: bool | None, reduction: str) -> str:
    """`reduction`, unless one of the old flags is given. Raises ValueError for an unknown name."""
    if size_average is not None or reduce is not None:
        return legacy(size_average, reduce)
    code(reduction)
    return reduction


def reduce(loss: Tensor, reduction: str) -> Tensor:
    """Apply a reduction to the losses of single elements."""
    if reduction == "mean":
        return loss.mean()
    return loss.sum() if reduction == "sum" else loss
