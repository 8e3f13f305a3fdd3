"""A linear layer and the cross entropy of its outputs, as one module."""

from __future__ import annotations

import math
from typing import Any

from taeda import Tensor

from .. import functional as F
from ..functional._linear_cross_entropy import LinearCrossEntropyOptions
from ._loss_base import _WeightedLoss
from .linear import Linear

__all__ = ["LinearCrossEntropyLoss", "LinearCrossEntropyOptions"]


class LinearCrossEntropyLoss(_WeightedLoss):
    """Cross entropy of `linear(input)` to `num_classes` classes, at every place of `out_features`
    if that is not empty.

    The layer's weight is stored flat, (num_classes * places, in_features). With `options` the
    logits of a part of the batch exist at a time.

    Args:
        in_features: size of the last dimension of the input.
        num_classes: number of classes C.
        out_features: sizes of the places that each have a target (()).
        bias: whether the layer adds a trained bias (False).
        device: where the parameters are made (None: the default device).
        dtype: floating-point dtype of the parameters (None: the default dtype).
        reduction: what becomes of the losses: "mean" averages them (default), "sum" adds them up,
            "none" returns each.
        weight: factor of each class, (C) (None: all 1).
        ignore_index: target that counts for nothing (None).
        label_smoothing: share of each target that is spread over all classes, in [0, 1] (0).
        options: how the batch is cut into parts (None: it is not).

    The same as a function: `nn.functional.linear_cross_entropy`.

    >>> LinearCrossEntropyLoss(5, 10)(taeda.zeros(2, 5), taeda.tensor([0, 9])).shape
    taeda.Size([])
    """

    def __init__(
        self,
        in_features: int,
        num_classes: int,
        *,
        out_features: tuple[int, ...] = (),
        bias: bool = False,
        device: Any = None,
        dtype: Any = None,
        reduction: str = "mean",
        weight: Tensor | None = None,
        ignore_index: int | None = None,
        label_smoothing: float = 0.0,
        options: LinearCrossEntropyOptions | None = None,
    ) -> None:
        super().__init__(weight, reduction=reduction)
        self.in_features = in_features
        self.num_classes = num_classes
        self.out_features = tuple(out_features)
        self.bias = bias
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing
        self.options = options
        rows = num_classes * math.prod(self.out_features)
        self.linear = Linear(in_features, rows, bias=bias, device=device, dtype=dtype)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """(N, F) or (F), and classes (N, *) or probabilities (N, C, *)."""
        shape = (self.num_classes, *self.out_features)
        bias = self.linear.bias
        return F.linear_cross_entropy(
            input,
            self.linear.weight.reshape(*shape, self.in_features),
            target,
            linear_bias=None if bias is None else bias.reshape(shape),
            weight=self.weight,
            reduction=self.reduction,
            ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing,
            options=self.options,
        )

    def extra_repr(self) -> str:
        names = ("in_features", "num_classes", "out_features", "bias", "reduction", "ignore_index",
            "label_smoothing", "options")  # fmt: skip
        return ", ".join(f"{name}={getattr(self, name)}" for name in names)
