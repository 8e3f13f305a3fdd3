"""The normal distribution of vectors whose covariance is a diagonal and few directions."""

from __future__ import annotations

import math
from typing import Any

import taeda
from taeda import Size, Tensor

from . import constraints
from ._shapes import need_tensors
from .distribution import Distribution
from .multivariate_normal import squared_distance
from .utils import lazy_property

__all__ = ["LowRankMultivariateNormal"]


class LowRankMultivariateNormal(Distribution):
    """Normal vectors with mean `loc` and covariance W W^T + D, for `cov_factor` W of few columns
    and `cov_diag` D.

    Determinant and inverse go through the small matrix I + W^T D^-1 W (the determinant lemma,
    Woodbury's identity), so that the work is linear in the length of the vectors.

    `loc` and `cov_diag` end with n, `cov_factor` with n x m; what stands before broadcasts to
    the batch. ValueError otherwise.

    Args:
        loc: the means, of shape (*, d)
        cov_factor: the factor W of the covariances W W.T + diag, of shape (*, d, rank)
        cov_diag: the diagonal of the covariances, above 0, of shape (*, d)
        validate_args: whether parameters, and values given to `log_prob`, are checked, with a
            ValueError for wrong ones; None for the class's default, which is on

    >>> from taeda.distributions import LowRankMultivariateNormal
    >>> LowRankMultivariateNormal(taeda.zeros(2), taeda.ones(2, 1), taeda.ones(2)).variance
    tensor([2., 2.])
    """

    arg_constraints = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    support = constraints.real_vector
    has_rsample = True
    _dims = {"loc": 1, "cov_factor": 2, "cov_diag": 1, "_capacitance_tril": 2}

    def __init__(
        self, loc: Tensor, cov_factor: Tensor, cov_diag: Tensor, validate_args: bool | None = None
    ) -> None:
        need_tensors(loc=loc, cov_factor=cov_factor, cov_diag=cov_diag)
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        n = loc.shape[-1]
        if cov_factor.dim() < 2 or cov_factor.shape[-2] != n:
            raise ValueError(
                f"cov_factor must be a batch of matrices with shape {n} x m, got {tuple(cov_factor.shape)}"
            )
        if cov_diag.dim() < 1 or cov_diag.shape[-1] != n:
            raise ValueError(
                f"cov_diag must be a batch of vectors with shape ({n},), got {tuple(cov_diag.shape)}"
            )
        batch = taeda.broadcast_shapes(loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1])
        self.loc = loc.expand((*batch, n))
        self.cov_diag = cov_diag.expand((*batch, n))
        self.cov_factor = cov_factor.expand((*batch, n, cov_factor.shape[-1]))
        super().__init__(batch, self.loc.shape[-1:], validate_args=validate_args)
        self._capacitance_tril = taeda.linalg.cholesky(self._capacitance())

    def _capacitance(self) -> Tensor:
        rank = self.cov_factor.shape[-1]
        inner = (self.cov_factor.mT / self.cov_diag.unsqueeze(-2)) @ self.cov_factor
        return inner + taeda.eye(rank, dtype=inner.dtype, device=inner.device)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @lazy_property
    def variance(self) -> Tensor:
        """The diagonal of the covariance."""
        return self.cov_factor.pow(2).sum(-1) + self.cov_diag

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """W W^T + D."""
        return self.cov_factor @ self.cov_factor.mT + self.cov_diag.diag_embed()

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The Cholesky factor of the covariance."""
        root = self.cov_diag.sqrt().unsqueeze(-1)
        scaled = self.cov_factor / root
        n = scaled.shape[-2]
        inner = scaled @ scaled.mT + taeda.eye(n, dtype=scaled.dtype, device=scaled.device)
        return root * taeda.linalg.cholesky(inner)

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance."""
        scaled = self.cov_factor.mT / self.cov_diag.unsqueeze(-2)
        part = taeda.linalg.solve_triangular(self._capacitance_tril, scaled, upper=False)
        return self.cov_diag.reciprocal().diag_embed() - part.mT @ part

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        options: Any = {"dtype": self.loc.dtype, "device": self.loc.device}
        few = taeda.randn((*shape[:-1], self.cov_factor.shape[-1]), **options)
        each = taeda.randn(shape, **options)
        return (
            self.loc
            + (self.cov_factor @ few.unsqueeze(-1)).squeeze(-1)
            + self.cov_diag.sqrt() * each
        )

    def _log_det(self) -> Tensor:
        small = self._capacitance_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)
        return 2 * small + self.cov_diag.log().sum(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        difference = value - self.loc
        scaled = difference / self.cov_diag
        along = (self.cov_factor.mT @ scaled.unsqueeze(-1)).squeeze(-1)
        distance = (difference * scaled).sum(-1) - squared_distance(self._capacitance_tril, along)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + self._log_det() + distance)

    def entropy(self) -> Tensor:
        known = 0.5 * (self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + self._log_det())
        return known.expand(self._batch_shape)
