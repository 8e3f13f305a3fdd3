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
    """The series of A / 2^s, whose norm is at most 1, squared s times."""
    check_square("linalg.matrix_exp", self)
    if not (self.is_floating_point() or self.is_complex()):
        check_floating("linalg.matrix_exp", self)
    unit = taeda.eye(self.size(-1), dtype=self.dtype, device=self.device).expand(self.shape)
    if self.numel() == 0 or self.is_meta:
        return self.clone()
    size = self.detach().abs().sum(-2).amax().item()
    halvings = max(0, math.ceil(math.log2(size))) if 0 < size < math.inf else 0
    x = self / 2**halvings
    made = unit
    for k in range(TERMS, 0, -1):
        made = unit + (x @ made) / k
    for _ in range(halvings):
        made = made @ made
    return made


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
