"""The ways a tangent passes an operation."""

from __future__ import annotations

from duals import DTYPE, same, tangent, values

import taeda
from taeda.autograd.forward_ad import make_dual


def test_a_number_without_dimensions_counts(level):
    scale = make_dual(taeda.tensor(2.0, dtype=DTYPE), taeda.tensor(3.0, dtype=DTYPE))
    filled = taeda.zeros(2, dtype=DTYPE).index_fill(0, taeda.tensor([1]), scale)
    same(tangent(filled), 0, 3)
    same(tangent(values(1, 2) * scale), 3, 6)


def test_values_computed_without_vectors_still_have_derivatives(level):
    a = taeda.tensor([[2.0, 1.0], [1.0, 3.0]], dtype=DTYPE)
    direction = taeda.eye(2, dtype=DTYPE)
    slope = tangent(taeda.linalg.eigvalsh(make_dual(a, direction)))
    assert taeda.allclose(slope, taeda.ones(2, dtype=DTYPE))


def test_empty_tensors(level):
    dual = make_dual(taeda.ones(0, 3), taeda.ones(0, 3))
    assert tangent(dual * 2).shape == (0, 3)
    assert tangent(dual.sum(0)).tolist() == [0, 0, 0]
