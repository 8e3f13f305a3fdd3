"""LDL of symmetric matrices for a CUDA device, by the processor's LAPACK: no library of a device has its
solution, and CuPy has neither. The matrices are copied to the host and the results back, which waits.
"""

from __future__ import annotations

from taeda import Tensor
from taeda._native import core as _core

__all__ = ["ROWS"]


def _on_host(op: str, tensors: tuple[Tensor, ...], *rest: bool) -> tuple[Tensor, ...]:
    made = _core.call_backend(op, (*(t.cpu() for t in tensors), *rest))
    several = made if isinstance(made, tuple) else (made,)
    return tuple(t.to(tensors[0].device) for t in several)


def factor(self: Tensor, hermitian: bool) -> tuple[Tensor, ...]:
    """Factors, exchanges and numbers of failure."""
    return _on_host("_linalg_ldl", (self,), hermitian)


def solve(factors: Tensor, pivots: Tensor, sides: Tensor, hermitian: bool) -> Tensor:
    """The solution for all right sides."""
    (made,) = _on_host("_linalg_ldl_solve", (factors, pivots, sides), hermitian)
    return made


ROWS = {"_linalg_ldl": factor, "_linalg_ldl_solve": solve}
