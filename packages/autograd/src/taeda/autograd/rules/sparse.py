"""Derivatives of products with sparse matrices in compressed rows: the gradient of the values at
their places, that of the dense factor by the transposed matrix.
"""

from __future__ import annotations

import taeda
from taeda import Tensor

from ._registry import multilinear, not_differentiable
from ._registry import rule_as_is as rule


def _transposed_times(
    crow: Tensor, col: Tensor, values: Tensor, columns: int, other: Tensor
) -> Tensor:
    """The transposed matrix times a dense one."""
    edges, rows, order = taeda._csr_transpose(crow, col, columns)
    return taeda._csr_mm(edges, rows, values[order], other)


rule(
    "_csr_mm",
    values=lambda grad, crow, col, mat2: taeda._csr_sampled(crow, col, grad, mat2),
    mat2=lambda grad, crow, col, values, mat2_shape: _transposed_times(
        crow, col, values, mat2_shape[0], grad
    ),
)
rule(
    "_csr_sampled",
    a=lambda grad, crow, col, b: taeda._csr_mm(crow, col, grad, b),
    b=lambda grad, crow, col, a, b_shape: _transposed_times(crow, col, grad, b_shape[0], a),
)
multilinear("_csr_mm", "_csr_sampled")
not_differentiable("_csr_transpose", "returns indices")
