"""The Wishart distribution."""

from __future__ import annotations

import math
from typing import Any

import taeda
from taeda import Size, Tensor

from . import constraints
from ._shapes import need_tensors
from .chi2 import Chi2
from .exp_family import ExponentialFamily
from .multivariate_normal import tril_of_precision
from .utils import lazy_property

__all__ = ["Wishart"]


def _digamma_sum(half_df: Tensor, p: int) -> Tensor:
    """The derivative of the multivariate log-gamma function."""
    steps = taeda.arange(p, dtype=half_df.dtype, device=half_df.device) / 2
    return (half_df.unsqueeze(-1) - steps).digamma().sum(-1)


class Wishart(ExponentialFamily):
    """Sums of `df` outer products of normal vectors, with one of `covariance_matrix`,
    `precision_matrix`, `scale_tril`.

    Sampled through Bartlett's decomposition. ValueError unless exactly one of the three is given
    and df > p - 1.

    `df` and what stands before the matrix's last two dimensions broadcast to the batch.

    Args:
        df: the degrees of freedom, above d - 1
        covariance_matrix: the covariances, positive definite of shape (*, d, d). One of the
            three forms is given (default: None)
        precision_matrix: the inverse of the covariances, positive definite of shape (*, d, d)
            (default: None)
        scale_tril: the Cholesky factor of the covariances, lower triangular of shape (*, d, d)
            (default: None)
        validate_args: whether parameters, and values given to `log_prob`, are checked, with a
            ValueError for wrong ones; None for the class's default, which is on

    >>> from taeda.distributions import Wishart
    >>> Wishart(taeda.tensor(3.0), taeda.eye(2)).mean
    tensor([[3., 0.],
            [0., 3.]])
    """

    arg_constraints = {
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
        "df": constraints.greater_than(0),
    }
    support = constraints.positive_definite
    has_rsample = True
    _dims = {
        "df": 0,
        "covariance_matrix": 2,
        "precision_matrix": 2,
        "scale_tril": 2,
        "_unbroadcasted_scale_tril": 2,
    }
    _mean_carrier_measure = 0

    def __init__(
        self,
        df: Any,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        given = {
            "covariance_matrix": covariance_matrix,
            "precision_matrix": precision_matrix,
            "scale_tril": scale_tril,
        }
        need_tensors(**given)
        named = [(name, matrix) for name, matrix in given.items() if matrix is not None]
        if len(named) != 1:
            raise ValueError(
                "Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified."
            )
        name, matrix = named[0]
        if matrix.dim() < 2:
            raise ValueError(
                "scale_tril must be at least two-dimensional, with optional leading batch dimensions"
            )
        df = (
            df
            if isinstance(df, Tensor)
            else taeda.tensor(float(df), dtype=matrix.dtype, device=matrix.device)
        )
        batch, p = taeda.broadcast_shapes(matrix.shape[:-2], df.shape), matrix.shape[-1]
        if df.le(p - 1).any():
            raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {p - 1}.")
        setattr(self, name, matrix.expand((*batch, p, p)))
        self.df = df.expand(batch)
        super().__init__(batch, Size((p, p)), validate_args=validate_args)
        factors: dict[str, Any] = {
            "covariance_matrix": taeda.linalg.cholesky,
            "precision_matrix": tril_of_precision,
        }
        self._unbroadcasted_scale_tril = matrix if name == "scale_tril" else factors[name](matrix)
        self._chi2 = self._diagonal_chi2()

    def _diagonal_chi2(self) -> Chi2:
        p = self._event_shape[-1]
        return Chi2(
            self.df.unsqueeze(-1) - taeda.arange(p, dtype=self.df.dtype, device=self.df.device)
        )

    def _expand_rest(self, new: Any, batch_shape: Size) -> None:
        new._chi2 = self._chi2.expand(batch_shape + self._event_shape[-1:])

    def _whole(self, matrix: Tensor) -> Tensor:
        return matrix.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The Cholesky factor of the covariance."""
        return self._whole(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance of the vectors."""
        return self._whole(self._unbroadcasted_scale_tril @ self._unbroadcasted_scale_tril.mT)

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance."""
        return self._whole(taeda.cholesky_inverse(self._unbroadcasted_scale_tril))

    @property
    def mean(self) -> Tensor:
        return self.df[..., None, None] * self.covariance_matrix

    @property
    def mode(self) -> Tensor:
        """NaN where df <= p + 1."""
        factor = self.df - self._event_shape[-1] - 1
        factor = taeda.where(factor <= 0, taeda.nan, factor)
        return factor[..., None, None] * self.covariance_matrix

    @property
    def variance(self) -> Tensor:
        v = self.covariance_matrix
        diagonal = v.diagonal(dim1=-2, dim2=-1)
        return self.df[..., None, None] * (
            v.pow(2) + diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2)
        )

    def rsample(self, sample_shape: Any = Size(), max_try_correction: Any = None) -> Tensor:
        p = self._event_shape[-1]
        shape = Size(sample_shape) + self._batch_shape + Size((p, p))
        tiny = taeda.finfo(self.df.dtype).tiny
        diagonal = self._chi2.rsample(sample_shape).clamp(min=tiny).sqrt().diag_embed()
        below = taeda.randn(shape, dtype=self.df.dtype, device=self.df.device).tril(-1)
        factor = self._unbroadcasted_scale_tril @ (diagonal + below)
        return factor @ factor.mT

    def _log_det_scale(self) -> Tensor:
        return 2 * self._unbroadcasted_scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        nu, p = self.df, self._event_shape[-1]
        norm = nu * (self._log_det_scale() + p * math.log(2)) / 2 + taeda.mvlgamma(nu / 2, p)
        trace = (
            taeda.cholesky_solve(value, self._unbroadcasted_scale_tril)
            .diagonal(dim1=-2, dim2=-1)
            .sum(-1)
        )
        return -norm + (nu - p - 1) / 2 * taeda.linalg.slogdet(value).logabsdet - trace / 2

    def entropy(self) -> Tensor:
        nu, p = self.df, self._event_shape[-1]
        log_det = self._log_det_scale()
        known = (p + 1) / 2 * (log_det + p * math.log(2)) + taeda.mvlgamma(nu / 2, p)
        return known - (nu - p - 1) / 2 * _digamma_sum(nu / 2, p) + nu * p / 2

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return -self.precision_matrix / 2, (self.df - self._event_shape[-1] - 1) / 2

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:  # type: ignore[override]
        p = self._event_shape[-1]
        log_det = -taeda.linalg.slogdet(-2 * x).logabsdet + p * math.log(2)
        return (y + (p + 1) / 2) * log_det + taeda.mvlgamma(y + (p + 1) / 2, p)
