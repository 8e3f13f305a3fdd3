"""Products of matrices."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor

from .._products import mv, product
from ._registry import rule


@rule("mm")
def mm(a: Tensor, b: Tensor) -> Tensor:
    return product(a, b)


@rule("mv")
def matrix_vector(matrix: Tensor, vector: Tensor) -> Any:
    return NotImplemented if matrix.layout is taeda.strided else mv(matrix, vector)


@rule("matmul", "matmul.linalg")
def matmul(a: Tensor, b: Tensor) -> Any:
    if a.dim() == 2 and b.dim() == 2:
        return product(a, b)
    if a.dim() == 2 and b.dim() == 1 and a.layout is not taeda.strided:
        return mv(a, b)
    return NotImplemented


@rule("addmm")
def addmm(bias: Tensor, a: Tensor, b: Tensor, beta: Any = 1, alpha: Any = 1) -> Any:
    if bias.layout is not taeda.strided:
        return NotImplemented
    made = product(a, b)
    if made.layout is not taeda.strided:
        made = made.to_dense()
    scaled = made if alpha == 1 else made * alpha
    if beta == 0:
        return scaled
    return taeda.add(
        bias.expand(made.shape) if beta == 1 else bias.expand(made.shape) * beta, scaled
    )
