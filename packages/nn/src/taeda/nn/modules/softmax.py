"""Nonlinearities along a dimension, as modules."""

from __future__ import annotations

from taeda import Tensor

from .. import functional as F
from .module import Module

__all__ = [
    "GLU",
    "LogSoftmax",
    "Softmax",
    "Softmax2d",
    "Softmin",
]


class GLU(Module):
    """The first half along `dim` times the sigmoid of the second.

    Args:
        dim: the dimension that is halved, of even size (-1).

    Shape:
        input: (*, 2 M, *); output: (*, M, *).

    Dauphin and others (arXiv:1612.08083). The same as a function: `nn.functional.glu`.

    >>> GLU()(taeda.zeros(2, 4)).shape
    taeda.Size([2, 2])
    """

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """Any shape; the dimension is halved."""
        return F.glu(input, self.dim)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class _Along(Module):
    dim: int | None

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class Softmax(_Along):
    """exp(x) scaled to a sum of 1 along `dim`.

    Args:
        dim: the dimension along which the results sum to 1, negative from the end (None: 0 for 0, 1
            and 3 dimensions, else 1, with a warning).

    Shape:
        input and output: (*).

    The same as a function: `nn.functional.softmax`.

    >>> Softmax(dim=1)(taeda.zeros(1, 2))
    tensor([[0.5000, 0.5000]])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Any shape, unchanged."""
        return F.softmax(input, self.dim)


class Softmin(_Along):
    """softmax(-x) along `dim`.

    Args:
        dim: the dimension along which the results sum to 1, negative from the end (None: 0 for 0, 1
            and 3 dimensions, else 1, with a warning).

    Shape:
        input and output: (*).

    The same as a function: `nn.functional.softmin`.

    >>> Softmin(dim=1)(taeda.zeros(1, 2))
    tensor([[0.5000, 0.5000]])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Any shape, unchanged."""
        return F.softmin(input, self.dim)


class LogSoftmax(_Along):
    """log(softmax(x)) along `dim`.

    Args:
        dim: the dimension along which the results sum to 1, negative from the end (None: 0 for 0, 1
            and 3 dimensions, else 1, with a warning).

    Shape:
        input and output: (*).

    The same as a function: `nn.functional.log_softmax`.

    >>> LogSoftmax(dim=1)(taeda.zeros(1, 2))
    tensor([[-0.6931, -0.6931]])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Any shape, unchanged."""
        return F.log_softmax(input, self.dim)


class Softmax2d(Module):
    """softmax over the channels of (N, C, H, W) or (C, H, W).

    Args:
        *args, **kwargs: none are taken; there is nothing to choose.

    The same as a function: `nn.functional.softmax`.

    >>> Softmax2d()(taeda.zeros(2, 1, 1)).flatten()
    tensor([0.5000, 0.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        """The same shape. Raises ValueError for another rank."""
        if input.dim() not in (3, 4):
            raise ValueError(
                f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead"
            )
        return F.softmax(input, -3)
