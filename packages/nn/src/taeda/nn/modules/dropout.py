"""Dropout as modules: at work in training mode only."""

from __future__ import annotations

from taeda import Tensor

from .. import functional as F
from .module import Module

__all__ = [
    "AlphaDropout",
    "Dropout",
    "Dropout1d",
    "Dropout2d",
    "Dropout3d",
    "FeatureAlphaDropout",
]


class _DropoutNd(Module):
    """Has a probability. Raises ValueError unless it lies in [0, 1]."""

    p: float
    inplace: bool

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p = p
        self.inplace = inplace

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_DropoutNd):
    """Zeroes elements with probability `p` and scales the rest by 1 / (1 - p).

    Args:
        p: probability that an element is zeroed in training, in [0, 1] (0.5).
        inplace: whether the result overwrites the input (False).

    Shape:
        input and output: (*).

    Hinton and others (arXiv:1207.0580). The same as a function: `nn.functional.dropout`.

    >>> Dropout(0.2).eval()(taeda.ones(3))
    tensor([1., 1., 1.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Any shape, unchanged."""
        return F.dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_DropoutNd):
    """Zeroes whole channels of (N, C, L) or (C, L).

    Args:
        p: probability that a channel is zeroed in training, in [0, 1] (0.5).
        inplace: whether the result overwrites the input (False).

    Shape:
        input and output: (N, C, L) or (C, L).

    Tompson and others (arXiv:1411.4280). The same as a function: `nn.functional.dropout1d`.

    >>> Dropout1d().eval()(taeda.ones(2, 3, 4)).shape
    taeda.Size([2, 3, 4])
    """

    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""
        return F.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_DropoutNd):
    """Zeroes whole channels of (N, C, H, W).

    Args:
        p: probability that a channel is zeroed in training, in [0, 1] (0.5).
        inplace: whether the result overwrites the input (False).

    Shape:
        input and output: (N, C, H, W).

    Tompson and others (arXiv:1411.4280). The same as a function: `nn.functional.dropout2d`.

    >>> Dropout2d().eval()(taeda.ones(2, 3, 4, 4)).shape
    taeda.Size([2, 3, 4, 4])
    """

    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""
        return F.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(_DropoutNd):
    """Zeroes whole channels of (N, C, D, H, W) or (C, D, H, W).

    Args:
        p: probability that a channel is zeroed in training, in [0, 1] (0.5).
        inplace: whether the result overwrites the input (False).

    Shape:
        input and output: (N, C, D, H, W) or (C, D, H, W).

    Tompson and others (arXiv:1411.4280). The same as a function: `nn.functional.dropout3d`.

    >>> Dropout3d().eval()(taeda.ones(2, 3, 4, 4, 4)).shape
    taeda.Size([2, 3, 4, 4, 4])
    """

    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""
        return F.dropout3d(input, self.p, self.training, self.inplace)


class AlphaDropout(_DropoutNd):
    """Dropout for `SELU` networks: mean and variance stay.

    Args:
        p: probability that an element is replaced by the limit of SELU in training, in [0, 1]
            (0.5).
        inplace: whether the result overwrites the input (False).

    Shape:
        input and output: (*).

    Klambauer and others (arXiv:1706.02515). The same as a function: `nn.functional.alpha_dropout`.

    >>> AlphaDropout().eval()(taeda.ones(3))
    tensor([1., 1., 1.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Any shape, unchanged."""
        return F.alpha_dropout(input, self.p, self.training, self.inplace)


class FeatureAlphaDropout(_DropoutNd):
    """`AlphaDropout` of whole channels of (N, C, *).

    Args:
        p: probability that a channel is replaced by the limit of SELU in training, in [0, 1] (0.5).
        inplace: whether the result overwrites the input (False).

    Shape:
        input and output: (N, C, *).

    Klambauer and others (arXiv:1706.02515). The same as a function:
    `nn.functional.feature_alpha_dropout`.

    >>> FeatureAlphaDropout().eval()(taeda.ones(2, 3, 4)).shape
    taeda.Size([2, 3, 4])
    """

    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""
        return F.feature_alpha_dropout(input, self.p, self.training, self.inplace)
