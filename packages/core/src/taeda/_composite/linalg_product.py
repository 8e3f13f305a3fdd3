"""Products and powers of matrices and vectors."""

from __future__ import annotations

import math

import taeda
from taeda import Tensor

from ._linalg_checks import check_floating, check_square


def matmul_linalg(self: Tensor, other: Tensor) -> Tensor:
    """Another name."""
    return taeda.matmul(self, other)


def matrix_power_linalg(self: Tensor, n: int) -> Tensor:
    """By repeated squares."""
    check_square("linalg.matrix_power", self, "A")
    if n < 0:
        return matrix_power_linalg(taeda.linalg.inv(self), -n)
    made, power = None, self
    while n:
        if n & 1:
            made = power if made is None else made @ power
        n >>= 1
        power = power @ power if n else power
    if made is None:
        unit = taeda.eye(self.size(-1), dtype=self.dtype, device=self.device)
        return taeda.where(taeda.ones_like(self, dtype=taeda.bool), unit, self)
    return made.clone() if made is self else made


TERMS = 18  # of the series, for a norm up to 1: the next is below 1e-17


def matrix_exp_linalg(self: Tensor) -> Tensor:
    """The series of A / 2^s, whose powers are at most 1, squared s times; every matrix has its own s."""
    check_square("linalg.matrix_exp", self)
    if not (self.is_floating_point() or self.is_complex()):
        check_floating("linalg.matrix_exp", self)
    unit = taeda.eye(self.size(-1), dtype=self.dtype, device=self.device).expand(self.shape)
    if self.numel() == 0 or self.is_meta:
        return self.clone()
    halvings = _halvings(self.detach())
    x, made = self / taeda.exp2(halvings.to(self.real.dtype)), unit
    for k in range(TERMS, 0, -1):
        made = unit + (x @ made) / k
    least, most = (int(n) for n in taeda.aminmax(halvings))
    for k in range(most):
        squared = made @ made
        made = squared if k < least else taeda.where(halvings > k, squared, made)
    return made


def _halvings(x: Tensor) -> Tensor:
    """Of each matrix, shaped [..., 1, 1]: how often to halve it until ||x²||^(1/2) and ||x³||^(1/3), which
    bound the terms of the series (Al-Mohy and Higham, SIAM J. Matrix Anal. Appl. 31, 2009), are at most 1.
    They may be far below ||x||, and each squaring costs a digit.
    """

    def size(y: Tensor, root: int) -> Tensor:
        return y.abs().sum(-2).amax(-1).to(taeda.float64) ** (1 / root)

    whole, square = size(x, 1), x @ x
    powers = taeda.maximum(size(square, 2), size(square @ x, 3))
    least = taeda.where(powers < whole, powers, whole)  # not NaN where powers overflow
    steps = taeda.where((least > 1) & (least < math.inf), least, 1.0).log2().ceil()
    return steps.to(taeda.int64).reshape(*x.shape[:-2], 1, 1)


def vecdot(x: Tensor, y: Tensor, dim: int) -> Tensor:
    """The first is conjugated; dimensions broadcast."""
    if not (x.is_floating_point() or x.is_complex()):
        raise RuntimeError(
            f"linalg.vecdot: Expected a floating point or complex tensor as input. Got {x.dtype}"
        )
    if x.dtype != y.dtype:
        raise RuntimeError(
            f"linalg.vecdot: Expected x and y of one dtype, but got {x.dtype} and {y.dtype}"
        )
    return (x.conj() * y).sum(dim)


def vander_linalg(x: Tensor, N: int | None) -> Tensor:
    """The last dimension's elements make the rows."""
    x = x.reshape(1) if x.dim() == 0 else x
    n = x.size(-1) if N is None else N
    if x.dtype is taeda.bool:
        raise RuntimeError(
            f"linalg.vander supports floating point, complex, and integer tensors, but got {x.dtype}"
        )
    if n <= 1:
        raise RuntimeError("N must be greater than 1.")
    powers = x.unsqueeze(-1).expand(*x.shape, n - 1).cumprod(-1)
    return taeda.cat([taeda.ones_like(powers[..., :1]), powers], -1)


def diagonal_linalg(A: Tensor, offset: int, dim1: int, dim2: int) -> Tensor:
    """Of the last two dimensions unless told."""
    return A.diagonal(offset, dim1, dim2)
