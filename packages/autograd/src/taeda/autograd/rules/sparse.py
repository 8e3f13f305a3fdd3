"""Derivatives of products with sparse matrices in compressed rows: the gradient of the values at
their places, that of the dense factor by the transposed matrix.
"""

from __future__ import annotations

import taeda
from taeda import Tensor

from ._registry import forward, multilinear, not_differentiable, rule_joint_as_is
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


# ---- sparse times sparse: result entry p gets, of each pair of entries that meet there, the product ----


def _rows(crow: Tensor) -> Tensor:
    """The row of each entry."""
    numbers = taeda.arange(crow.numel() - 1, device=crow.device)
    return numbers.repeat_interleave(crow.diff().long())


def _pairs(
    crow: Tensor,
    col: Tensor,
    crow2: Tensor,
    col2: Tensor,
    columns: int,
    made: tuple[Tensor, Tensor],
) -> tuple[Tensor, Tensor, Tensor]:
    """(entry of the first matrix, entry of the second, entry of the result) of all pairs that meet."""
    begins, counts = crow2[:-1].long()[col], crow2.diff().long()[col]
    first = taeda.arange(col.numel(), device=col.device).repeat_interleave(counts)
    within = taeda.arange(first.numel(), device=col.device) - (counts.cumsum(0) - counts)[first]
    second = begins[first] + within
    wanted = _rows(crow)[first] * columns + col2.long()[second]
    return first, second, taeda.searchsorted(_rows(made[0]) * columns + made[1], wanted)


@rule_joint_as_is("_csr_spgemm", differentiable_results=1)
def _spgemm(
    grads: tuple[Tensor | None, ...],
    needs: tuple[bool, ...],
    crow: Tensor,
    col: Tensor,
    values: Tensor,
    crow2: Tensor,
    col2: Tensor,
    values2: Tensor,
    columns: int,
    result1: Tensor,
    result2: Tensor,
) -> tuple[Tensor | None, ...]:
    if grads[0] is None:
        return (None,) * 6
    first, second, at = _pairs(crow, col, crow2, col2, columns, (result1, result2))
    grad = grads[0][at]
    of_first = of_second = None
    if needs[2]:
        of_first = taeda.zeros_like(values).index_add(0, first, grad * values2[second])
    if needs[5]:
        of_second = taeda.zeros_like(values2).index_add(0, second, grad * values[first])
    return None, None, of_first, None, None, of_second


def _spgemm_forward(
    values_t: Tensor | None,
    values2_t: Tensor | None,
    crow: Tensor,
    col: Tensor,
    values: Tensor,
    crow2: Tensor,
    col2: Tensor,
    values2: Tensor,
    columns: int,
) -> tuple[Tensor, None, None]:
    moved = []
    if values_t is not None:
        moved.append(taeda._csr_spgemm(crow, col, values_t, crow2, col2, values2, columns)[0])
    if values2_t is not None:
        moved.append(taeda._csr_spgemm(crow, col, values, crow2, col2, values2_t, columns)[0])
    return sum(moved[1:], moved[0]), None, None


forward("_csr_spgemm", _spgemm_forward)
