"""An approximate softmax over many classes: frequent ones directly, rare ones in clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import taeda
from taeda import Tensor

from ..functional import log_softmax
from .container import ModuleList, Sequential
from .linear import Linear
from .module import Module

__all__ = ["AdaptiveLogSoftmaxWithLoss"]


class _ASMoutput(NamedTuple):
    """The log-probabilities of the targets, and their negative mean."""

    output: Tensor
    loss: Tensor


class AdaptiveLogSoftmaxWithLoss(Module):
    """Classes, sorted by falling frequency, are cut at `cutoffs`: the first are leaves of the head, each
    further part is a cluster, one leaf of the head with a projection that is `div_value` times narrower than
    the one before.

    Raises ValueError unless the cutoffs rise within [1, n_classes - 1].

    Args:
        in_features: size of the last dimension of the input.
        n_classes: number of classes, which are numbered by falling frequency.
        cutoffs: rising class numbers, in [1, n_classes - 1], at which a new cluster begins.
        div_value: by how much each cluster's projection is narrower than that of the one before
            (4).
        head_bias: whether the head adds a bias (False).
        device: where the parameters are made (None: the default device).
        dtype: floating-point dtype of the parameters (None: the default dtype).

    Shape:
        input: (N, in_features) or (in_features).
        target: (N) or (), int64, in [0, n_classes).
        output: (N) or (), log-probabilities of the targets; loss: (), their negative mean.

    Grave and others (arXiv:1609.04309).

    >>> layer = AdaptiveLogSoftmaxWithLoss(8, 20, [5, 10])
    >>> output, loss = layer(taeda.zeros(3, 8), taeda.tensor([1, 7, 19]))
    >>> output.shape
    taeda.Size([3])
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        cutoffs = list(cutoffs)
        if not cutoffs:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        rising = sorted(set(cutoffs)) == cutoffs and all(int(c) == c for c in cutoffs)
        if not rising or cutoffs[0] <= 0 or cutoffs[-1] > n_classes - 1:
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, "
                f"where each value is between 1 and n_classes-1, got {cutoffs} for {n_classes} classes"
            )
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs = [*cutoffs, n_classes]
        self.div_value = div_value
        self.head_bias = head_bias
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        made = {"device": device, "dtype": dtype}
        self.head = Linear(in_features, self.head_size, bias=head_bias, **made)
        self.tail = ModuleList()
        for i in range(self.n_clusters):
            hidden = int(in_features // div_value ** (i + 1))
            size = self.cutoffs[i + 1] - self.cutoffs[i]
            self.tail.append(
                Sequential(
                    Linear(in_features, hidden, bias=False, **made),
                    Linear(hidden, size, bias=False, **made),
                )
            )

    def reset_parameters(self) -> None:
        """Draw all weights anew."""
        self.head.reset_parameters()
        for narrow, wide in self.tail:
            narrow.reset_parameters()
            wide.reset_parameters()

    def forward(self, input_: Tensor, target_: Tensor) -> _ASMoutput:
        """(N, in_features) and (N), or (in_features) and (): the targets' log-probabilities and the loss.

        Raises RuntimeError where the shapes or the targets do not fit.
        """
        batched = target_.dim() > 0
        input, target = (
            (input_, target_) if batched else (input_.unsqueeze(0), target_.unsqueeze(0))
        )
        self._taeda_check(input, target)
        head = self.head(input)
        head_log = log_softmax(head, 1)
        in_shortlist = target < self.shortlist_size
        leaf = taeda.where(in_shortlist, target, taeda.zeros_like(target))
        output = head_log.new_zeros(target.size(0))
        for i, cluster in enumerate(self.tail):
            low, high = self.cutoffs[i], self.cutoffs[i + 1]
            rows = ((target >= low) & (target < high)).nonzero().squeeze(1)
            if rows.numel() == 0:
                continue
            log = log_softmax(cluster(input.index_select(0, rows)), 1)
            own = (target.index_select(0, rows) - low).unsqueeze(1)
            output = output.index_add(0, rows, log.gather(1, own).squeeze(1))
            leaf = leaf.index_fill(0, rows, self.shortlist_size + i)
        output = output + head_log.gather(1, leaf.unsqueeze(1)).squeeze(1)
        loss = (-output).mean()
        return _ASMoutput(output if batched else output.squeeze(0), loss)

    def _taeda_check(self, input: Tensor, target: Tensor) -> None:
        if input.dim() != 2 or input.size(0) != target.size(0):
            raise RuntimeError(
                "Input and target should have the same size in the batch dimension: got "
                f"{list(input.shape)} and {list(target.shape)}."
            )
        if target.dim() > 1:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        low, high = (int(target.min()), int(target.max())) if target.numel() else (0, 0)
        if low < 0 or high >= self.n_classes:
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range "
                f"[{low}, {high}] were found. "
            )

    def log_prob(self, input: Tensor) -> Tensor:
        """Log-probabilities (N, n_classes) of all classes."""
        return self._taeda_all_log_probs(input, self.head(input))

    def _taeda_all_log_probs(self, input: Tensor, head: Tensor) -> Tensor:
        head_log = log_softmax(head, 1)
        parts = [head_log[:, : self.shortlist_size]]
        for i, cluster in enumerate(self.tail):
            own = head_log[:, self.shortlist_size + i].unsqueeze(1)
            parts.append(log_softmax(cluster(input), 1) + own)
        return taeda.cat(parts, 1)

    def predict(self, input: Tensor) -> Tensor:
        """The most likely class (N); clusters are looked into only for samples that may lie there."""
        head = self.head(input)
        output = head.argmax(1)
        outside = (output >= self.shortlist_size).nonzero().squeeze(1)
        if outside.numel() == 0:
            return output
        log = self._taeda_all_log_probs(
            input.index_select(0, outside), head.index_select(0, outside)
        )
        return output.index_copy(0, outside, log.argmax(1))
