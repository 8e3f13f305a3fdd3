"""The normal distribution of vectors."""

from __future__ import annotations

import math
from typing import Any

import taeda
from taeda import Size, Tensor

from . import constraints
from ._shapes import need_tensors
from .distribution import Distribution
from .utils import lazy_property

__all__ = ["MultivariateNormal"]


def squared_distance(scale_tril: Tensor, difference: Tensor) -> Tensor:
    """Mahalanobis: |L^-1 x|^2 for each vector x.

    Args:
        scale_tril: the Cholesky factor of the covariances, lower triangular of shape (*, d, d)
    """
    solved = taeda.linalg.solve_triangular(scale_tril, difference.unsqueeze(-1), upper=False)
    return solved.squeeze(-1).pow(2).sum(-1)


def tril_of_precision(precision: Tensor) -> Tensor:
    """The Cholesky factor of a precision matrix's inverse, without inverting it: from the factor of
    the reversed matrix.
    """
    reversed_factor = taeda.linalg.cholesky(precision.flip(-2, -1))
    upper = reversed_factor.flip(-2, -1).mT
    identity = taeda.eye(precision.shape[-1], dtype=precision.dtype, device=precision.device)
    return taeda.linalg.solve_triangular(upper, identity, upper=False)


class MultivariateNormal(Distribution):
    """Normal vectors with mean `loc`, and one of `covariance_matrix`, `precision_matrix` and its
    factor `scale_tril`.

    ValueError unless exactly one of the three is given.

    `loc` ends with n, the matrix with n x n; what stands before broadcasts to the batch.

    Args:
        loc: the means, of shape (*, d)
        covariance_matrix: the covariances, positive definite of shape (*, d, d). One of the
            three forms is given (default: None)
        precision_matrix: the inverse of the covariances, positive definite of shape (*, d, d)
            (default: None)
        scale_tril: the Cholesky factor of the covariances, lower triangular of shape (*, d, d)
            (default: None)
        validate_args: whether parameters, and values given to `log_prob`, are checked, with a
            ValueError for wrong ones; None for the class's default, which is on

    >>> from taeda.distributions import MultivariateNormal
    >>> MultivariateNormal(taeda.zeros(2), taeda.eye(2)).log_prob(taeda.zeros(2))
    tensor(-1.8379)
    """

    arg_constraints = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector
    has_rsample = True
    _dims = {
        "loc": 1,
        "covariance_matrix": 2,
        "precision_matrix": 2,
        "scale_tril": 2,
        "_unbroadcasted_scale_tril": 2,
    }

    def __init__(
        self,
        loc: Tensor,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        given = {
            "covariance_matrix": covariance_matrix,
            "scale_tril": scale_tril,
            "precision_matrix": precision_matrix,
        }
        named = [(name, matrix) for name, matrix in given.items() if matrix is not None]
        need_tensors(loc=loc, **given)
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        if len(named) != 1:
            raise ValueError(
                "Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified."
            )
        name, matrix = named[0]
        if matrix.dim() < 2:
            raise ValueError(
                f"{name} must be at least two-dimensional, with optional leading batch dimensions"
            )
        batch = taeda.broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        setattr(self, name, matrix.expand((*batch, -1, -1)))
        self.loc = loc.expand((*batch, -1))
        super().__init__(batch, self.loc.shape[-1:], validate_args=validate_args)
        factors: dict[str, Any] = {
            "scale_tril": taeda.clone,
            "covariance_matrix": taeda.linalg.cholesky,
            "precision_matrix": tril_of_precision,
        }
        self._unbroadcasted_scale_tril = matrix if name == "scale_tril" else factors[name](matrix)

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The lower triangle L with L L^T the covariance."""
        n = self._event_shape[0]
        return self._unbroadcasted_scale_tril.expand((*self._batch_shape, n, n))

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariances."""
        n, factor = self._event_shape[0], self._unbroadcasted_scale_tril
        return (factor @ factor.mT).expand((*self._batch_shape, n, n))

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariances."""
        n = self._event_shape[0]
        return taeda.cholesky_inverse(self._unbroadcasted_scale_tril).expand(
            (*self._batch_shape, n, n)
        )

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        return (
            self._unbroadcasted_scale_tril.pow(2)
            .sum(-1)
            .expand(self._batch_shape + self._event_shape)
        )

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        noise = taeda.randn(shape, dtype=self.loc.dtype, device=self.loc.device)
        return self.loc + (self._unbroadcasted_scale_tril @ noise.unsqueeze(-1)).squeeze(-1)

    def _half_log_det(self) -> Tensor:
        return self._unbroadcasted_scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        distance = squared_distance(self._unbroadcasted_scale_tril, value - self.loc)
        return (
            -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + distance) - self._half_log_det()
        )

    def entropy(self) -> Tensor:
        known = 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + self._half_log_det()
        return known.expand(self._batch_shape)
