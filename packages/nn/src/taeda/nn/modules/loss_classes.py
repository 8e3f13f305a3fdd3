"""Losses of classifications and sequences, as modules."""

from __future__ import annotations

from typing import Any

from taeda import Tensor

from .. import functional as F
from ._loss_base import _Loss, _WeightedLoss

__all__ = [
    "BCELoss",
    "BCEWithLogitsLoss",
    "CTCLoss",
    "CrossEntropyLoss",
    "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",
    "NLLLoss",
    "NLLLoss2d",
]


class NLLLoss(_WeightedLoss):
    """-x[target] of log-probabilities (N, C, *).

    loss = -weight[y] · x[y] for a target y; the mean divides by the sum of those weights.

    Args:
        weight: factor of each class, (C) (None: all 1).
        size_average: older form of `reduction`, deprecated (None): False chooses "sum".
        ignore_index: target that counts for nothing (-100).
        reduce: older form of `reduction`, deprecated (None): False chooses "none".
        reduction: what becomes of the losses: "mean" averages them (default), "sum" adds them up,
            "none" returns each; the average is weighted, over targets that are not ignored.

    Shape:
        input: (N, C, *) or (C), log-probabilities; target: (N, *) or (), int64 in [0, C).
        output: (), or with "none" the shape of the losses.

    The same as a function: `nn.functional.nll_loss`.

    >>> NLLLoss()(taeda.zeros(2, 3), taeda.tensor([0, 2]))
    tensor(0.)
    """

    ignore_index: int

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """(N, C, *) and (N, *), or (C) and ()."""
        return F.nll_loss(
            input,
            target,
            weight=self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
        )


class NLLLoss2d(NLLLoss):
    """The former name of NLLLoss for images.

    Args:
        weight: factor of each class, (C) (None: all 1).
        size_average: older form of `reduction`, deprecated (None): False chooses "sum".
        ignore_index: target that counts for nothing (-100).
        reduce: older form of `reduction`, deprecated (None): False chooses "none".
        reduction: what becomes of the losses: "mean" averages them (default), "sum" adds them up,
            "none" returns each.

    Shape:
        input: (N, C, H, W); target: (N, H, W), int64.
        output: (), or with "none" the shape of the losses.

    The same as a function: `nn.functional.nll_loss`.

    >>> NLLLoss2d()(taeda.zeros(1, 3, 1, 1), taeda.zeros(1, 1, 1, dtype=taeda.int64))
    tensor(0.)
    """


class CrossEntropyLoss(_WeightedLoss):
    """The negative log-likelihood of the targets under softmax(x).

    loss = -weight[y] · log(exp(x[y]) / sum over classes c of exp(x[c])) for a target y.

    Args:
        weight: factor of each class, (C) (None: all 1).
        size_average: older form of `reduction`, deprecated (None): False chooses "sum".
        ignore_index: target that counts for nothing (-100).
        reduce: older form of `reduction`, deprecated (None): False chooses "none".
        reduction: what becomes of the losses: "mean" averages them (default), "sum" adds them up,
            "none" returns each; the average over numbers of classes is weighted, over targets that
            are not ignored.
        label_smoothing: share of each target that is spread over all classes, in [0, 1] (0).

    Shape:
        input: (N, C, *) or (C), logits.
        target: (N, *) or (), int64 in [0, C); or probabilities of the input's shape.
        output: (), or with "none" the shape of the losses.

    Label smoothing: Szegedy and others (arXiv:1512.00567). The same as a function:
    `nn.functional.cross_entropy`.

    >>> CrossEntropyLoss()(taeda.zeros(2, 3), taeda.tensor([0, 2]))
    tensor(1.0986)
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """(N, C, *) with classes (N, *) or probabilities (N, C, *)."""
        return F.cross_entropy(
            input,
            target,
            self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )


class BCELoss(_WeightedLoss):
    """-(target · log x + (1 - target) · log(1 - x)).

    Args:
        weight: factor of each element, broadcast to the target (None: all 1).
        size_average: older form of `reduction`, deprecated (None): False chooses "sum".
        reduce: older form of `reduction`, deprecated (None): False chooses "none".
        reduction: what becomes of the losses: "mean" averages them (default), "sum" adds them up,
            "none" returns each.

    Shape:
        input and target: (*), in [0, 1].
        output: (), or with "none" the shape of the losses.

    The same as a function: `nn.functional.binary_cross_entropy`.

    >>> BCELoss()(taeda.full((2,), 0.5), taeda.ones(2))
    tensor(0.6931)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Equal shapes with values in [0, 1]."""
        return F.binary_cross_entropy(input, target, weight=self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(_Loss):
    """`BCELoss` of sigmoid(x), in a stable form; `pos_weight` scales the positive part.

    loss = -weight · (pos_weight · target · log(p) + (1 - target) · log(1 - p)), p = sigmoid(x).

    Args:
        weight: factor of each element, broadcast to the target (None: all 1).
        size_average: older form of `reduction`, deprecated (None): False chooses "sum".
        reduce: older form of `reduction`, deprecated (None): False chooses "none".
        reduction: what becomes of the losses: "mean" averages them (default), "sum" adds them up,
            "none" returns each.
        pos_weight: factor of the part of target 1, broadcast to the target (None: 1).

    Shape:
        input: (*), logits; target: (*), in [0, 1].
        output: (), or with "none" the shape of the losses.

    The same as a function: `nn.functional.binary_cross_entropy_with_logits`.

    >>> BCEWithLogitsLoss()(taeda.zeros(2), taeda.ones(2))
    tensor(0.6931)
    """

    weight: Tensor | None
    pos_weight: Tensor | None

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        pos_weight: Tensor | None = None,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Equal shapes."""
        return F.binary_cross_entropy_with_logits(
            input, target, self.weight, pos_weight=self.pos_weight, reduction=self.reduction
        )


class MultiLabelSoftMarginLoss(_WeightedLoss):
    """Binary cross entropy of the logits, averaged over the classes.

    loss = -mean over c of weight[c] · (t[c] · log(p[c]) + (1 - t[c]) · log(1 - p[c])), p = sigmoid(x).

    Args:
        weight: factor of each class, (C) (None: all 1).
        size_average: older form of `reduction`, deprecated (None): False chooses "sum".
        reduce: older form of `reduction`, deprecated (None): False chooses "none".
        reduction: what becomes of the losses: "mean" averages them (default), "sum" adds them up,
            "none" returns each.

    Shape:
        input: (N, C), logits; target: (N, C), of 0 and 1.
        output: (), or with "none" the shape of the losses.

    The same as a function: `nn.functional.multilabel_soft_margin_loss`.

    >>> MultiLabelSoftMarginLoss()(taeda.zeros(2, 3), taeda.ones(2, 3))
    tensor(0.6931)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """(N, C) of both."""
        return F.multilabel_soft_margin_loss(
            input, target, weight=self.weight, reduction=self.reduction
        )


class MultiLabelMarginLoss(_Loss):
    """Hinges between every label of a sample and every other class.

    loss = sum over labels y and other classes c of max(0, 1 - x[y] + x[c]) / C.

    Args:
        size_average: older form of `reduction`, deprecated (None): False chooses "sum".
        reduce: older form of `reduction`, deprecated (None): False chooses "none".
        reduction: what becomes of the losses: "mean" averages them (default), "sum" adds them up,
            "none" returns each.

    Shape:
        input: (N, C) or (C); target: the same, int64: the labels, ended by -1.
        output: (), or with "none" the shape of the losses.

    The same as a function: `nn.functional.multilabel_margin_loss`.

    >>> MultiLabelMarginLoss()(taeda.zeros(1, 3), taeda.tensor([[2, -1, -1]]))
    tensor(0.6667)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """(N, C) or (C) of both; labels end at the first -1."""
        return F.multilabel_margin_loss(input, target, reduction=self.reduction)


class MultiMarginLoss(_WeightedLoss):
    """Hinges between the class of a sample and every other one, to the power p (1 or 2).

    loss = sum over c ≠ y of weight[y] · max(0, margin - x[y] + x[c])**p / C for a target y.

    Args:
        p: power of each hinge, 1 or 2 (1).
        margin: the distance that is asked for (1).
        weight: factor of each class, (C) (None: all 1).
        size_average: older form of `reduction`, deprecated (None): False chooses "sum".
        reduce: older form of `reduction`, deprecated (None): False chooses "none".
        reduction: what becomes of the losses: "mean" averages them (default), "sum" adds them up,
            "none" returns each.

    Shape:
        input: (N, C) or (C); target: (N) or (), int64 in [0, C).
        output: (), or with "none" the shape of the losses.

    The same as a function: `nn.functional.multi_margin_loss`.

    >>> MultiMarginLoss()(taeda.zeros(1, 4), taeda.tensor([2]))
    tensor(0.7500)
    """

    def __init__(
        self,
        p: int = 1,
        margin: float = 1.0,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        if p not in (1, 2):
            raise ValueError(f"only p == 1 and p == 2 supported, got {p}")
        if weight is not None and weight.dim() != 1:
            raise ValueError(
                f"MultiMarginLoss: expected weight to be None or 1D tensor, got {weight.dim()}D instead"
            )
        self.p = p
        self.margin = margin

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """(N, C) and (N), or (C) and ()."""
        return F.multi_margin_loss(
            input,
            target,
            p=self.p,
            margin=self.margin,
            weight=self.weight,
            reduction=self.reduction,
        )


class CTCLoss(_Loss):
    """-log of the likelihood of a label sequence under all its alignments.

    loss = -log(sum over alignments of the target of the product over t of exp(log_probs[t, label])).

    Args:
        blank: class of the blank (0).
        reduction: what becomes of the losses: "mean" averages them (default), "sum" adds them up,
            "none" returns each; the average is over losses divided by their target's length.
        zero_infinity: whether an infinite loss, of a target that does not fit, and its gradient
            become 0 (False).

    Shape:
        log_probs: (T, N, C) or (T, C).
        targets: (N, S), or all one after the other; lengths of inputs and targets: (N).
        output: (), or with "none" the shape of the losses.

    Graves and others (2006). The same as a function: `nn.functional.ctc_loss`.

    >>> CTCLoss()(taeda.zeros(4, 1, 3), taeda.tensor([[1]]), taeda.tensor([4]), taeda.tensor([1])).shape
    taeda.Size([])
    """

    def __init__(
        self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False
    ) -> None:
        super().__init__(reduction=reduction)
        self.blank = blank
        self.zero_infinity = zero_infinity

    def forward(
        self, log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any
    ) -> Tensor:
        """(T, N, C) or (T, C) with targets (N, S), or all of them one after the other."""
        return F.ctc_loss(
            log_probs,
            targets,
            input_lengths,
            target_lengths,
            self.blank,
            self.reduction,
            self.zero_infinity,
        )
