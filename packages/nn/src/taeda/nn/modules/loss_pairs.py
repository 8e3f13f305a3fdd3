"""Losses of pairs and triples, as modules."""

from __future__ import annotations

from collections.abc import Callable

from taeda import Tensor

from .. import functional as F
from ._loss_base import _Loss
from .distance import PairwiseDistance

__all__ = [
    "CosineEmbeddingLoss",
    "HingeEmbeddingLoss",
    "MarginRankingLoss",
    "SoftMarginLoss",
    "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
]


class SoftMarginLoss(_Loss):
    """log(1 + exp(-target · x)).

    Args:
        size_average: older form of `reduction`, deprecated (None): False chooses "sum".
        reduce: older form of `reduction`, deprecated (None): False chooses "none".
        reduction: what becomes of the losses: "mean" averages them (default), "sum" adds them up,
            "none" returns each.

    Shape:
        input: (*); target: (*), of 1 and -1.
        output: (), or with "none" the shape of the losses.

    The same as a function: `nn.functional.soft_margin_loss`.

    >>> SoftMarginLoss()(taeda.zeros(2), taeda.ones(2))
    tensor(0.6931)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Equal shapes; targets are 1 or -1."""
        return F.soft_margin_loss(input, target, reduction=self.reduction)


class _MarginLoss(_Loss):
    _taeda_margin = 0.0

    def __init__(
        self,
        margin: float | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = self._taeda_margin if margin is None else margin


class HingeEmbeddingLoss(_MarginLoss):
    """x where the target is 1, max(0, margin - x) where it is -1.

    Args:
        margin: distance above which a pair of target -1 costs nothing (None: 1).
        size_average: older form of `reduction`, deprecated (None): False chooses "sum".
        reduce: older form of `reduction`, deprecated (None): False chooses "none".
        reduction: what becomes of the losses: "mean" averages them (default), "sum" adds them up,
            "none" returns each.

    Shape:
        input: (*), distances; target: (*), of 1 and -1.
        output: (), or with "none" the shape of the losses.

    The same as a function: `nn.functional.hinge_embedding_loss`.

    >>> HingeEmbeddingLoss()(taeda.zeros(2), taeda.ones(2))
    tensor(0.)
    """

    _taeda_margin = 1.0

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Equal shapes."""
        return F.hinge_embedding_loss(input, target, margin=self.margin, reduction=self.reduction)


class MarginRankingLoss(_MarginLoss):
    """max(0, -target · (x1 - x2) + margin).

    Args:
        margin: how much higher the better one must be (None: 0).
        size_average: older form of `reduction`, deprecated (None): False chooses "sum".
        reduce: older form of `reduction`, deprecated (None): False chooses "none".
        reduction: what becomes of the losses: "mean" averages them (default), "sum" adds them up,
            "none" returns each.

    Shape:
        x1, x2 and target: (N) or (); target 1 wants x1 higher, -1 x2.
        output: (), or with "none" the shape of the losses.

    The same as a function: `nn.functional.margin_ranking_loss`.

    >>> MarginRankingLoss()(taeda.zeros(2), taeda.ones(2), taeda.ones(2))
    tensor(1.)
    """

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        """Equal shapes."""
        return F.margin_ranking_loss(
            input1, input2, target, margin=self.margin, reduction=self.reduction
        )


class CosineEmbeddingLoss(_MarginLoss):
    """1 - cos where the target is 1, max(0, cos - margin) where it is -1.

    Args:
        margin: cosine below which a pair of target -1 costs nothing (None: 0).
        size_average: older form of `reduction`, deprecated (None): False chooses "sum".
        reduce: older form of `reduction`, deprecated (None): False chooses "none".
        reduction: what becomes of the losses: "mean" averages them (default), "sum" adds them up,
            "none" returns each.

    Shape:
        x1, x2: (N, D) or (D); target: (N) or (), of 1 and -1.
        output: (), or with "none" the shape of the losses.

    The same as a function: `nn.functional.cosine_embedding_loss`.

    >>> CosineEmbeddingLoss()(taeda.ones(2, 3), taeda.ones(2, 3), taeda.tensor([-1.0, -1.0]))
    tensor(1.)
    """

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        """(N, D), (N, D) and (N), or (D), (D) and ()."""
        return F.cosine_embedding_loss(
            input1, input2, target, margin=self.margin, reduction=self.reduction
        )


class TripletMarginLoss(_Loss):
    """max(0, margin + |anchor - positive| - |anchor - negative|).

    Args:
        margin: the distance that is asked for (1).
        p: order of the norm (2).
        eps: added to differences (1e-6).
        swap: whether the distance of positive and negative counts if it is the shorter one (False).
        size_average: older form of `reduction`, deprecated (None): False chooses "sum".
        reduce: older form of `reduction`, deprecated (None): False chooses "none".
        reduction: what becomes of the losses: "mean" averages them (default), "sum" adds them up,
            "none" returns each.

    Shape:
        anchor, positive and negative: (N, D) or (D).
        output: (), or with "none" the shape of the losses.

    Balntas and others (2016). The same as a function: `nn.functional.triplet_margin_loss`.

    >>> TripletMarginLoss()(taeda.ones(2, 3), taeda.ones(2, 3), taeda.ones(2, 3))
    tensor(1.)
    """

    def __init__(
        self,
        margin: float = 1.0,
        p: float = 2.0,
        eps: float = 1e-6,
        swap: bool = False,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        if margin <= 0:
            raise ValueError(
                f"TripletMarginLoss: expected margin to be greater than 0, got {margin} instead"
            )
        self.margin = margin
        self.p = p
        self.eps = eps
        self.swap = swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        """(N, D) or (D) of all three."""
        return F.triplet_margin_loss(
            anchor,
            positive,
            negative,
            margin=self.margin,
            p=self.p,
            eps=self.eps,
            swap=self.swap,
            reduction=self.reduction,
        )


class TripletMarginWithDistanceLoss(_Loss):
    """`TripletMarginLoss` with a distance of one's own.

    Args:
        distance_function: function of two tensors (None: `PairwiseDistance`).
        margin: the distance that is asked for (1).
        swap: whether the distance of positive and negative counts if it is the shorter one (False).
        reduction: what becomes of the losses: "mean" averages them (default), "sum" adds them up,
            "none" returns each.

    Shape:
        anchor, positive and negative: what the distance takes.
        output: (), or with "none" the shape of the losses.

    The same as a function: `nn.functional.triplet_margin_with_distance_loss`.

    >>> TripletMarginWithDistanceLoss()(taeda.ones(2, 3), taeda.ones(2, 3), taeda.ones(2, 3))
    tensor(1.)
    """

    def __init__(
        self,
        *,
        distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
        margin: float = 1.0,
        swap: bool = False,
        reduction: str = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        if margin <= 0:
            raise ValueError(
                f"TripletMarginWithDistanceLoss: expected margin to be greater than 0, got {margin} instead"
            )
        self.distance_function = (
            PairwiseDistance() if distance_function is None else distance_function
        )
        self.margin = margin
        self.swap = swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        """Whatever the distance takes."""
        return F.triplet_margin_with_distance_loss(
            anchor,
            positive,
            negative,
            distance_function=self.distance_function,
            margin=self.margin,
            swap=self.swap,
            reduction=self.reduction,
        )
