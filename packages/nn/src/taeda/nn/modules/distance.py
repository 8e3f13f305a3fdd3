"""Distances and similarities as modules."""

from __future__ import annotations

from taeda import Tensor

from .. import functional as F
from .module import Module

__all__ = ["CosineSimilarity", "PairwiseDistance"]


class PairwiseDistance(Module):
    """The p-norm of x1 - x2 + eps along the last dimension.

    Args:
        p: order of the norm (2).
        eps: added to every element of the difference (1e-6).
        keepdim: whether the last dimension stays, with size 1 (False).

    Shape:
        x1, x2: (N, D) or (D), or what broadcasts.
        output: (N) or (), with a last dimension of 1 if `keepdim`.

    The same as a function: `nn.functional.pairwise_distance`.

    >>> PairwiseDistance(p=1.0)(taeda.ones(2, 3), taeda.zeros(2, 3)).shape
    taeda.Size([2])
    """

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.norm = p
        self.eps = eps
        self.keepdim = keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """(N, D) or (D) of both, to (N) or ()."""
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)


class CosineSimilarity(Module):
    """x1 · x2 / (max(|x1|, eps) · max(|x2|, eps)) along `dim`.

    Args:
        dim: the dimension of the vectors, negative from the end (1).
        eps: least length that divides (1e-8).

    Shape:
        x1, x2: what broadcasts.
        output: the common shape without `dim`.

    The same as a function: `nn.functional.cosine_similarity`.

    >>> CosineSimilarity()(taeda.tensor([[1.0, 0.0]]), taeda.tensor([[3.0, 0.0]]))
    tensor([1.])
    """

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self.dim = dim
        self.eps = eps

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """Shapes that broadcast, to the common one without `dim`."""
        return F.cosine_similarity(x1, x2, self.dim, self.eps)
