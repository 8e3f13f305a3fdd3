"""Norms, determinants and ranks, against numpy."""

from __future__ import annotations

import numpy as np
import pytest
from matrices import DTYPES, close, draw, positive

import taeda
from taeda import linalg


def test_tolerances():
    a = taeda.diag(taeda.tensor([4.0, 2.0, 1e-9], dtype=taeda.float64))
    assert linalg.matrix_rank(a).item() == 3
    assert linalg.matrix_rank(a, atol=1e-6).item() == 2
    assert linalg.matrix_rank(a, rtol=0.6).item() == 1
    assert linalg.matrix_rank(a, 1e-6, hermitian=True).item() == 2
    assert linalg.matrix_rank(a.expand(2, 3, 3), atol=taeda.tensor([1e-6, 3.0])).tolist() == [2, 1]
    assert linalg.pinv(a, rtol=1e-6)[2, 2] == 0
    assert linalg.pinv(a, 1e-6, hermitian=True)[2, 2] == 0


@pytest.mark.parametrize("dtype", DTYPES)
def test_determinants(dtype):
    a = draw(3, 4, 4, dtype=dtype)
    close(linalg.det(a), np.linalg.det(a.numpy()), dtype)
    sign, size = linalg.slogdet(a)
    close(sign * size.exp(), linalg.det(a), dtype)
    close(
        taeda.logdet(positive(3, 3, dtype=dtype)).exp(),
        linalg.det(positive(3, 3, dtype=dtype)),
        dtype,
    )
    assert taeda.logdet(taeda.tensor([[0.0, 1.0], [1.0, 0.0]])).isnan()


@pytest.mark.parametrize("ord", ["fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf])
@pytest.mark.parametrize("dim", [(0, 1), (-1, 0), (1, 2)])
def test_matrix_norms(ord, dim):
    a = draw(3, 4, 5)
    for keepdim in (False, True):
        want = np.linalg.norm(a.numpy(), ord, dim, keepdim)
        close(linalg.matrix_norm(a, ord, dim, keepdim), want)
        close(linalg.norm(a, ord, dim, keepdim), want)
    if dim == (1, 2):
        square = draw(4, 4)
        close(linalg.cond(square, ord), np.linalg.cond(square.numpy(), ord))


def test_norms_of_other_shapes():
    close(linalg.norm(draw(3, 4, 5)), np.linalg.norm(draw(3, 4, 5).numpy()))
    close(taeda.norm(draw(4, 5), "nuc"), np.linalg.norm(draw(4, 5).numpy(), "nuc"))
    close(linalg.norm(draw(4), 3), np.linalg.norm(draw(4).numpy(), 3))
    assert linalg.cond(taeda.ones(2, 2), 1).item() == np.inf
    assert linalg.matrix_norm(taeda.ones(0, 3), 2).item() == 0
