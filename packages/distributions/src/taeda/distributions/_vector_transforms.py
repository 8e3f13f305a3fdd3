"""Maps of vectors and matrices."""

from __future__ import annotations

import math
from typing import Any

import taeda
from taeda import Size, Tensor
from taeda.nn.functional import pad, softplus

from . import constraints
from ._transform import Transform, with_dims
from .utils import tril_matrix_to_vec, vec_to_tril_matrix

__all__ = [
    "CorrCholeskyTransform",
    "LowerCholeskyTransform",
    "PositiveDefiniteTransform",
    "SoftmaxTransform",
    "StickBreakingTransform",
]


class SoftmaxTransform(Transform):
    """Vectors to probabilities; several vectors have the same.

    Args:
        cache_size: 1 to keep the last input and result, so that the inverse of a result is the
            input itself; 0 for neither

    >>> from taeda.distributions import SoftmaxTransform
    >>> SoftmaxTransform()(taeda.zeros(4))
    tensor([0.2500, 0.2500, 0.2500, 0.2500])
    """

    domain = constraints.real_vector
    codomain = constraints.simplex

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SoftmaxTransform)

    __hash__ = Transform.__hash__

    def _call(self, x: Tensor) -> Tensor:
        return taeda.softmax(x, -1)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def forward_shape(self, shape: Size) -> Size:
        return with_dims(shape, 1)

    inverse_shape = forward_shape


class StickBreakingTransform(Transform):
    """K - 1 numbers to K probabilities: each number says which part of what is left of a stick is broken off.

    Zeros give equal probabilities.

    ValueError for a number without dimensions.

    Args:
        cache_size: 1 to keep the last input and result, so that the inverse of a result is the
            input itself; 0 for neither

    >>> from taeda.distributions import StickBreakingTransform
    >>> StickBreakingTransform()(taeda.zeros(3))
    tensor([0.2500, 0.2500, 0.2500, 0.2500])
    """

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StickBreakingTransform)

    __hash__ = Transform.__hash__

    def _offset(self, x: Tensor) -> Tensor:
        """log of how many pieces are still to come, at each place."""
        n = x.shape[-1]
        return taeda.arange(n, 0, -1, dtype=x.dtype, device=x.device).log()

    def _call(self, x: Tensor) -> Tensor:
        info = taeda.finfo(x.dtype)
        part = taeda.sigmoid(x - self._offset(x)).clamp(min=info.tiny, max=1 - info.eps)
        left = (1 - part).cumprod(-1)
        return pad(part, [0, 1], value=1) * pad(left, [1, 0], value=1)

    def _inverse(self, y: Tensor) -> Tensor:
        cut = y[..., :-1]
        left = (1 - cut.cumsum(-1)).clamp(min=taeda.finfo(y.dtype).tiny)
        return cut.log() - left.log() + self._offset(cut)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        x = x - self._offset(x)
        return (-x + taeda.nn.functional.logsigmoid(x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Size) -> Size:
        with_dims(shape, 1)
        return shape[:-1] + Size((shape[-1] + 1,))

    def inverse_shape(self, shape: Size) -> Size:
        with_dims(shape, 1)
        return shape[:-1] + Size((shape[-1] - 1,))


class CorrCholeskyTransform(Transform):
    """D (D - 1) / 2 numbers to the Cholesky factor of a correlation matrix of D rows.

    tanh of the numbers are partial correlations; each row is a walk over the unit sphere
    (Lewandowski, Kurowicka and Joe, 2009).

    ValueError where the count of numbers is that of no strict lower triangle.

    Args:
        cache_size: 1 to keep the last input and result, so that the inverse of a result is the
            input itself; 0 for neither

    >>> from taeda.distributions import CorrCholeskyTransform
    >>> CorrCholeskyTransform()(taeda.zeros(3)).shape
    taeda.Size([3, 3])
    """

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x: Tensor) -> Tensor:
        eps = taeda.finfo(x.dtype).eps
        r = vec_to_tril_matrix(x.tanh().clamp(min=-1 + eps, max=1 - eps), diag=-1)
        left = (1 - r**2).sqrt().cumprod(-1)  # what is left of a row's length
        r = r + taeda.eye(r.shape[-1], dtype=r.dtype, device=r.device)
        return r * pad(left[..., :-1], [1, 0], value=1)

    def _inverse(self, y: Tensor) -> Tensor:
        left = 1 - (y * y).cumsum(-1)
        shifted = pad(left[..., :-1], [1, 0], value=1)
        r = tril_matrix_to_vec(y, diag=-1) / tril_matrix_to_vec(shifted, diag=-1).sqrt()
        return (r.log1p() - r.neg().log1p()) / 2

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor, intermediates: Any = None) -> Tensor:
        left = 1 - (y * y).cumsum(-1)
        lengths = 0.5 * tril_matrix_to_vec(left, diag=-2).log().sum(-1)
        return lengths - 2 * (x + softplus(-2 * x) - math.log(2.0)).sum(-1)

    def forward_shape(self, shape: Size) -> Size:
        n = with_dims(shape, 1)[-1]
        d = round((0.25 + 2 * n) ** 0.5 + 0.5)
        if d * (d - 1) // 2 != n:
            raise ValueError(f"{n} numbers are no strict lower triangle")
        return shape[:-1] + Size((d, d))

    def inverse_shape(self, shape: Size) -> Size:
        d = _square_size(shape)
        return shape[:-2] + Size((d * (d - 1) // 2,))


def _square_size(shape: Size) -> int:
    with_dims(shape, 2)
    if shape[-2] != shape[-1]:
        raise ValueError("Input is not square")
    return shape[-1]


# ---- maps of matrices ----


class LowerCholeskyTransform(Transform):
    """Matrices to lower triangles whose diagonals are positive: exp of the diagonal.

    Args:
        cache_size: 1 to keep the last input and result, so that the inverse of a result is the
            input itself; 0 for neither

    >>> from taeda.distributions import LowerCholeskyTransform
    >>> LowerCholeskyTransform()(taeda.zeros(2, 2))
    tensor([[1., 0.],
            [0., 1.]])
    """

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LowerCholeskyTransform)

    __hash__ = Transform.__hash__

    def _call(self, x: Tensor) -> Tensor:
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(Transform):
    """Matrices to positive-definite ones, through their Cholesky factors.

    Args:
        cache_size: 1 to keep the last input and result, so that the inverse of a result is the
            input itself; 0 for neither

    >>> from taeda.distributions import PositiveDefiniteTransform
    >>> PositiveDefiniteTransform()(taeda.zeros(2, 2))
    tensor([[1., 0.],
            [0., 1.]])
    """

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PositiveDefiniteTransform)

    __hash__ = Transform.__hash__

    def _call(self, x: Tensor) -> Tensor:
        factor = LowerCholeskyTransform()(x)
        return factor @ factor.mT

    def _inverse(self, y: Tensor) -> Tensor:
        return LowerCholeskyTransform().inv(taeda.linalg.cholesky(y))
