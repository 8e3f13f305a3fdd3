"""What losses share: a reduction, and weights."""

from __future__ import annotations

from taeda import Tensor

from ..functional._reduction import legacy
from .module import Module

__all__ = ["_Loss", "_WeightedLoss"]


class _Loss(Module):
    """Has a reduction: "none", "mean" or "sum"; two flags of former times are still understood."""

    reduction: str

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__()
        old = size_average is not None or reduce is not None
        self.reduction = legacy(size_average, reduce) if old else reduction


class _WeightedLoss(_Loss):
    """Has a buffer of weights, too."""

    weight: Tensor | None

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
