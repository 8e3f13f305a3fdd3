"""Up to where singular values count as 0."""

from __future__ import annotations

import pytest

import taeda
from taeda._composite._linalg_tolerance import cut

SIZES = taeda.tensor([[4.0, 1.0], [100.0, 0.0]], dtype=taeda.float64)
X = taeda.empty(2, 3, 2, dtype=taeda.float64)
EPS = taeda.finfo(taeda.float64).eps


@pytest.mark.parametrize(
    ("atol", "rtol", "want"),
    [
        (None, None, [12 * EPS, 300 * EPS]),
        (0.5, None, [0.5, 0.5]),  # atol takes the place of the default
        (0.0, None, [12 * EPS, 300 * EPS]),
        (None, 0.1, [0.4, 10.0]),
        (1.0, 0.1, [1.0, 10.0]),
        (taeda.tensor([0.0, 7.0]), None, [12 * EPS, 7.0]),
        (None, taeda.tensor([0.5, 0.25]), [2.0, 25.0]),
    ],
)
def test_the_larger_of_both_tolerances(atol, rtol, want):
    assert cut(X, SIZES, atol, rtol).tolist() == pytest.approx(want, rel=1e-12)


def test_a_matrix_without_singular_values():
    assert cut(taeda.empty(2, 3, 0), taeda.empty(2, 0), None, None).tolist() == [0, 0]
