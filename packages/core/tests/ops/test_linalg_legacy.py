"""Linear algebra under its older names and arguments, against numpy and scipy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from matrices import close, draw, positive

import taeda


def test_other_names():
    a = positive(3, 3)
    n = a.numpy()
    close(taeda.inverse(a), np.linalg.inv(n))
    close(taeda.det(a), np.linalg.det(n))
    close(taeda.logdet(a), np.log(np.linalg.det(n)))
    sign, size = taeda.slogdet(a)
    assert sign.item() == 1 and size.item() == pytest.approx(np.log(np.linalg.det(n)))
    close(taeda.matrix_exp(a / 9), scipy.linalg.expm(n / 9))
    close(taeda.matrix_power(a, 3), n @ n @ n)
    close(taeda.pinverse(draw(4, 3)), np.linalg.pinv(draw(4, 3).numpy()))
    assert taeda.logdet(taeda.zeros(2, 2)).item() == -float("inf")
    assert taeda.logdet(taeda.tensor([[0.0, 1.0], [1.0, 0.0]])).isnan().item()


@pytest.mark.parametrize("upper", [True, False])
def test_cholesky(upper):
    a, b = positive(2, 3, 3), draw(2, 3, 4, seed=1)
    factor = taeda.cholesky(a, upper)
    close(factor.mT @ factor if upper else factor @ factor.mT, a)
    noise = draw(3, 3).tril(-1) if upper else draw(3, 3).triu(1)  # that triangle is not read
    close(taeda.cholesky_solve(b, factor + noise, upper), np.linalg.solve(a.numpy(), b.numpy()))
    close(taeda.cholesky_inverse(factor + noise, upper), np.linalg.inv(a.numpy()))
    for call, words in (
        (lambda: taeda.cholesky_solve(b[0, 0], factor), "b should have at least 2 dimensions"),
        (lambda: taeda.cholesky_solve(b, factor[0, 0]), "u should have at least 2 dimensions"),
        (lambda: taeda.cholesky_inverse(b), "square"),
    ):
        with pytest.raises(RuntimeError, match=words):
            call()


@pytest.mark.parametrize("some", [True, False])
def test_qr_and_svd(some):
    a = draw(5, 3)
    q, r = taeda.qr(a, some)
    assert q.shape == (5, 3 if some else 5)
    close(q @ r, a)
    u, s, v = taeda.svd(a, some)
    assert u.shape == (5, 3 if some else 5) and v.shape == (3, 3)
    close(u[:, :3] * s @ v.mT, a)
    u, s, v = taeda.svd(a, some, compute_uv=False)
    assert not u.any() and not v.any() and u.shape == (5, 5)
    close(s, np.linalg.svd(a.numpy(), compute_uv=False))


def test_lu():
    a, b = draw(3, 3), draw(3, 2, seed=1)
    data, pivots = taeda.linalg.lu_factor(a)
    close(taeda.lu_solve(b, data, pivots), np.linalg.solve(a.numpy(), b.numpy()))
    p, lower, upper = taeda.lu_unpack(data, pivots)
    close(p @ lower @ upper, a)
    assert [t.numel() for t in taeda.lu_unpack(data, pivots, unpack_data=False)] == [9, 0, 0]
    assert [t.numel() for t in taeda.lu_unpack(data, pivots, unpack_pivots=False)] == [0, 9, 9]
    with pytest.raises(RuntimeError, match=r"int32 .*got taeda\.int64"):
        taeda.lu_unpack(data, pivots.long())


@pytest.mark.parametrize("upper", [True, False])
@pytest.mark.parametrize("transpose", [True, False])
@pytest.mark.parametrize("unit", [True, False])
def test_triangles(upper, transpose, unit):
    a, b = draw(3, 3) + 3 * taeda.eye(3), draw(3, 2, seed=1)
    x, copy = taeda.triangular_solve(b, a, upper, transpose, unit)
    options = {"lower": not upper, "trans": int(transpose), "unit_diagonal": unit}
    close(x, scipy.linalg.solve_triangular(a.numpy(), b.numpy(), **options))
    assert taeda.equal(copy, a) and copy.data_ptr() != a.data_ptr()


@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("transpose", [True, False])
def test_reflections(left, transpose):
    raw, tau = taeda.geqrf(draw(4, 4))
    q = taeda.orgqr(raw, tau)
    close(q.mT @ q, np.eye(4))
    c = draw(4, 3, seed=2) if left else draw(3, 4, seed=2)
    side = q.mT if transpose else q
    close(taeda.ormqr(raw, tau, c, left, transpose), side @ c if left else c @ side)
    with pytest.raises(RuntimeError, match=r"ormqr: other\.shape"):
        taeda.ormqr(raw, tau, draw(3, 3), left, transpose)


def test_cross_and_vander():
    a, b = draw(2, 3), draw(2, 3, seed=1)
    close(taeda.cross(a, b), np.cross(a.numpy(), b.numpy()))
    for n in (None, 0, 1, 5):
        x = np.array([1.0, 2.0, -3.0])
        for up in (True, False):
            close(taeda.vander(taeda.from_numpy(x), n, up), np.vander(x, n, up))
    for call, words in (
        (lambda: taeda.cross(a[:, :2], b[:, :2]), "no dimension of size 3"),
        (lambda: taeda.vander(a), "one-dimensional tensor, got 2"),
        (lambda: taeda.vander(a[0], -1), "non-negative, got -1"),
    ):
        with pytest.raises(RuntimeError, match=words):
            call()
