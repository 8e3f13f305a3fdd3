"""What factorizations pack into one matrix, against scipy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from matrices import close, draw

import taeda
from taeda._composite import _linalg_packed as packed


@pytest.mark.parametrize("size", [(4, 4), (5, 3), (3, 5), (2, 0)])
def test_triangles(size):
    both = draw(*size)
    lower, upper = packed.triangles(both)
    k = min(size)
    close(lower, np.tril(both.numpy()[:, :k], -1) + np.eye(size[0], k))
    close(upper, np.triu(both.numpy()[:k]))


def test_exchanges_of_rows_one_after_the_other():
    pivots = taeda.tensor([3, 3, 3], dtype=taeda.int32)  # counted from 1
    matrix = packed.permutation(pivots, 4, taeda.float64)
    rows = np.eye(4)
    for i, p in enumerate([2, 2, 2]):
        rows[[i, p]] = rows[[p, i]]
    close(matrix, rows.T)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("size", [(5, 3), (4, 4)])
def test_reflections_are_i_less_v_t_v(size, dtype):
    a = draw(*size, dtype=dtype).numpy()
    (raw, tau), _ = scipy.linalg.qr(a, mode="raw")
    v, t = packed.reflections(
        "f", taeda.from_numpy(np.ascontiguousarray(raw)), taeda.from_numpy(tau)
    )
    whole = np.eye(size[0]) - (v @ t @ v.mH).resolve_conj().numpy()
    want = np.eye(size[0], dtype=a.dtype)
    for j in range(len(tau)):
        column = np.concatenate([np.zeros(j), [1], raw[j + 1 :, j]])
        want = want @ (np.eye(size[0]) - tau[j] * np.outer(column, column.conj()))
    np.testing.assert_allclose(whole, want, atol=1e-12)


def test_a_tau_of_nothing_is_no_exception():
    v, t = packed.reflections("f", taeda.ones(3, 2), taeda.zeros(2))
    assert t.abs().max().item() == 0 and v.shape == (3, 2)
    with pytest.raises(RuntimeError, match=r"f: Expected tau of shape \(..., at most 2\)"):
        packed.reflections("f", taeda.ones(3, 2), taeda.zeros(3))
