"""Products of matrices."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import runtime as core

from .._batches import batch_product
from .._products import mv, product
from ._registry import ALL, rule


@rule("mm")
def mm(a: Tensor, b: Tensor) -> Tensor:
    return product(a, b)


@rule("bmm")
def bmm(a: Tensor, b: Tensor) -> Any:
    return batch_product(a, b)


@rule("mv")
def matrix_vector(matrix: Tensor, vector: Tensor) -> Any:
    return NotImplemented if matrix.layout is taeda.strided else mv(matrix, vector)


@rule("matmul", "matmul.linalg")
def matmul(a: Tensor, b: Tensor) -> Any:
    if a.dim() == 2 and b.dim() == 2:
        return product(a, b)
    if a.dim() == 2 and b.dim() == 1 and a.layout is not taeda.strided:
        return mv(a, b)
    return batch_product(a, b) if a.dim() == b.dim() == 3 else NotImplemented


@rule("linear")
def linear(x: Tensor, weight: Tensor, bias: Any = None) -> Any:
    if (
        weight.dim() != 2
        or x.layout is not taeda.strided
        or (bias is not None and bias.layout is not taeda.strided)
    ):
        return NotImplemented
    made = product(x.reshape(-1, x.shape[-1]), weight.t()).reshape(*x.shape[:-1], weight.shape[0])
    return made if bias is None else made + bias


@rule("addmm")
def addmm(bias: Tensor, a: Tensor, b: Tensor, beta: Any = 1, alpha: Any = 1) -> Any:
    if not (bias.is_floating_point() or bias.is_complex()):
        beta, alpha = int(beta), int(alpha)  # as the row of strided matrices takes them
    if bias.layout is not taeda.strided:
        return _sparse_addmm(bias, a, b, beta, alpha)
    made = product(a, b)
    _check_term(bias, made)
    if made.layout is not taeda.strided:
        made = made.to_dense()
    scaled = made if alpha == 1 else made * alpha
    if beta == 0:
        return scaled
    return taeda.add(
        bias.expand(made.shape) if beta == 1 else bias.expand(made.shape) * beta, scaled
    )


def _addmm_into(self: Tensor, a: Tensor, b: Tensor, beta: Any = 1, alpha: Any = 1) -> Any:
    """The same into a strided matrix itself."""
    if self.layout is not taeda.strided:
        return NotImplemented
    made = addmm(self, a, b, beta, alpha)
    if made.shape != self.shape:
        raise RuntimeError(
            f"addmm_: the result has the shape {tuple(made.shape)}, which a tensor of "
            f"{tuple(self.shape)} cannot take. Use addmm"
        )
    return self.copy_(made)


for _layout in ALL:
    core.layout_rules(_layout, True)["addmm"] = _addmm_into


def _check_term(bias: Tensor, made: Tensor) -> None:
    if bias.dtype is not made.dtype:
        raise RuntimeError(
            f"addmm: expected the dtype of the product, {made.dtype}, for the term that is added, but "
            f"found {bias.dtype}"
        )


def _sparse_addmm(bias: Tensor, a: Tensor, b: Tensor, beta: Any, alpha: Any) -> Any:
    """Of sparse matrices alone, by coordinates or by rows as the first: places of both terms."""
    by_rows = bias.layout is taeda.sparse_csr
    if taeda.strided in (a.layout, b.layout) or not (by_rows or bias.layout is taeda.sparse_coo):
        return NotImplemented
    made = product(a, b)
    _check_term(bias, made)
    if bias.shape != made.shape:
        raise RuntimeError(
            f"addmm: a sparse term is not broadcast: it is of {tuple(bias.shape)}, the product of "
            f"{tuple(made.shape)}"
        )
    made = made.to_sparse_csr() if by_rows else made.to_sparse()
    scaled = made if alpha == 1 else made * alpha
    return scaled if beta == 0 else (bias if beta == 1 else bias * beta) + scaled
