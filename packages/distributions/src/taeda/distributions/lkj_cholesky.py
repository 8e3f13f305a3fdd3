"""Cholesky factors of random correlation matrices."""

from __future__ import annotations

import math
from typing import Any

import taeda
from taeda import Size, Tensor

from . import constraints
from .beta import Beta
from .distribution import Distribution
from .utils import broadcast_all

__all__ = ["LKJCholesky"]


class LKJCholesky(Distribution):
    """Cholesky factors of `dim` x `dim` correlation matrices R with density det(R) ** (concentration - 1).

    Lewandowski, Kurowicka and Joe: Generating random correlation matrices based on vines and
    extended onion method, 2009. Sampled by the onion method, row by row.

    The batch has the shape of `concentration`, samples have `dim` by `dim` more. ValueError
    for `dim` below 2.

    Args:
        dim: the number of variables, at least 2
        concentration: the shape, above 0: 1 is uniform, larger is nearer to the identity
            (default: 1.0)
        validate_args: whether parameters, and values given to `log_prob`, are checked, with a
            ValueError for wrong ones; None for the class's default, which is on

    >>> from taeda.distributions import LKJCholesky
    >>> LKJCholesky(3, 1.0).sample().shape
    taeda.Size([3, 3])
    """

    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky
    _dims = {"concentration": 0}

    def __init__(
        self, dim: int, concentration: Any = 1.0, validate_args: bool | None = None
    ) -> None:
        if dim < 2:
            raise ValueError(
                f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}."
            )
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        batch = self.concentration.size()
        offset = taeda.arange(
            dim - 1, dtype=self.concentration.dtype, device=self.concentration.device
        )
        offset = taeda.cat([offset.new_zeros((1,)), offset])
        rest = self.concentration.unsqueeze(-1) + 0.5 * (dim - 2)
        self._beta = Beta(0.5 * offset + 0.5, rest - 0.5 * offset, validate_args=False)
        super().__init__(batch, Size((dim, dim)), validate_args)

    def _expand_rest(self, new: Any, batch_shape: Size) -> None:
        new.dim = self.dim
        new._beta = self._beta.expand(batch_shape + Size((self.dim,)))

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        with taeda.no_grad():
            # squared, of a row without its diagonal
            length = self._beta.sample(sample_shape).unsqueeze(-1)
            normal = taeda.randn(
                self._extended_shape(sample_shape), dtype=length.dtype, device=length.device
            ).tril(-1)
            direction = normal / normal.norm(dim=-1, keepdim=True)
            direction[..., 0, :].fill_(0.0)
            rows = length.sqrt() * direction
            tiny = taeda.finfo(rows.dtype).tiny
            diagonal = (1 - rows.pow(2).sum(-1)).clamp(min=tiny).sqrt()
            return rows + diagonal.diag_embed()

    def log_prob(self, value: Tensor) -> Tensor:
        """Of the factor L, not of L L^T."""
        if self._validate_args:
            self._validate_sample(value)
        diagonal = value.diagonal(dim1=-1, dim2=-2)[..., 1:]
        order = taeda.arange(2, self.dim + 1, device=self.concentration.device)
        order = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim - order
        return (order * diagonal.log()).sum(-1) - self._log_normaliser()

    def _log_normaliser(self) -> Tensor:
        n = self.dim - 1
        alpha = self.concentration + 0.5 * n
        above = taeda.mvlgamma(alpha - 0.5, n)
        return 0.5 * n * math.log(math.pi) + above - alpha.lgamma() * n
