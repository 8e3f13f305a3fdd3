"""Factorizations by what defines them: the product of the factors, orthonormal columns, triangles."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from matrices import BATCHES, DTYPES, SIZES, close, draw, positive, unit

import taeda
from taeda import linalg


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("batch", BATCHES)
def test_cholesky(batch, dtype):
    a = positive(*batch, 4, 4, dtype=dtype)
    lower, upper = linalg.cholesky(a), linalg.cholesky(a, upper=True)
    close(lower @ lower.mH, a, dtype)
    close(upper.mH @ upper, a, dtype)
    assert taeda.equal(lower, lower.tril())
    assert taeda.equal(upper, upper.triu())
    close(taeda.cholesky(a), lower, dtype)
    close(taeda.cholesky_inverse(lower), linalg.inv(a), dtype)
    b = draw(*batch, 4, 2, dtype=dtype)
    close(taeda.cholesky_solve(b, upper, upper=True), linalg.solve(a, b), dtype)


def test_cholesky_says_which_matrix_and_which_minor():
    a = taeda.eye(3).repeat(3, 1, 1)
    a[1, 1, 1] = -1
    with pytest.raises(
        linalg.LinAlgError, match=r"\(Batch element 1\): .*leading minor of order 2"
    ):
        linalg.cholesky(a)
    assert linalg.cholesky_ex(a).info.tolist() == [0, 2, 0]
    assert linalg.cholesky_ex(a).L[2].tolist() == taeda.eye(3).tolist()
    assert issubclass(linalg.LinAlgError, RuntimeError)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("batch", BATCHES)
def test_qr(batch, size, dtype):
    a = draw(*batch, *size, dtype=dtype)
    for mode in ("reduced", "complete"):
        q, r = linalg.qr(a, mode)
        unit(q, dtype)
        close(q @ r, a, dtype)
        assert taeda.equal(r, r.triu())
    empty, r = linalg.qr(a, "r")
    assert empty.numel() == 0
    close(r.abs(), linalg.qr(a)[1].abs(), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("batch", BATCHES)
def test_lu(batch, size, dtype):
    a = draw(*batch, *size, dtype=dtype)
    p, lower, upper = linalg.lu(a)
    close(p @ lower @ upper, a, dtype)
    assert lower.abs().amax() < 1.5
    packed, pivots = linalg.lu_factor(a)
    for got, want in zip(taeda.lu_unpack(packed, pivots), (p, lower, upper), strict=True):
        close(got, want, dtype)
    if size[0] == size[1]:
        b = draw(*batch, 4, 2, dtype=dtype, seed=1)
        close(a @ linalg.lu_solve(packed, pivots, b), b, dtype)
        close(a.mH @ linalg.lu_solve(packed, pivots, b, adjoint=True), b, dtype)
        close(linalg.lu_solve(packed, pivots, b.mT, left=False) @ a, b.mT, dtype)
    want, places = (
        scipy.linalg.lu_factor(a.reshape(-1, *size)[0].numpy())
        if size[0] == size[1]
        else (None, None)
    )
    if want is not None:
        close(packed.reshape(-1, *size)[0], want, dtype)
        assert (pivots.reshape(-1, 4)[0] - 1).tolist() == places.tolist()


def test_lu_without_pivots_and_of_singular_matrices():
    a = positive(3, 3)
    p, lower, upper = linalg.lu(a, pivot=False)
    assert p.numel() == 0
    close(lower @ upper, a)
    assert linalg.lu_factor_ex(taeda.ones(2, 2)).info.item() == 2
    assert taeda.lu(taeda.ones(2, 2), get_infos=True)[2].item() == 2
    with pytest.raises(linalg.LinAlgError, match=r"U\[2,2\] is zero"):
        linalg.lu_factor_ex(taeda.ones(2, 2), check_errors=True)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("batch", BATCHES)
def test_eigh(batch, dtype):
    a = draw(*batch, 4, 4, dtype=dtype)
    for side, read in (("L", a.tril()), ("U", a.triu())):
        diagonal = read.diagonal(0, -2, -1)
        whole = read + read.mH - taeda.diag_embed((diagonal + diagonal.conj()) / 2)
        values, v = linalg.eigh(a, side)
        unit(v, dtype)
        close(whole @ v, v * values.unsqueeze(-2), dtype)
        close(linalg.eigvalsh(a, side), values, dtype)
        assert (values.diff() >= 0).all()
        close(values, np.linalg.eigvalsh(a.numpy(), side), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_eig(dtype):
    a = draw(2, 4, 4, dtype=dtype)
    values, v = linalg.eig(a)
    assert values.is_complex()
    close(a.to(v.dtype) @ v, v * values.unsqueeze(-2), str(v.dtype).split(".")[1])
    close(v.abs().square().sum(-2), np.ones((2, 4)), dtype)
    close(linalg.eigvals(a).abs().sort()[0], values.abs().sort()[0], dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("batch", BATCHES)
def test_svd(batch, size, dtype):
    a = draw(*batch, *size, dtype=dtype)
    for full in (False, True):
        u, s, vh = linalg.svd(a, full_matrices=full)
        unit(u, dtype)
        unit(vh.mH, dtype)
        k = s.size(-1)
        close(u[..., :k] * s.unsqueeze(-2) @ vh[..., :k, :], a, dtype)
    close(linalg.svdvals(a), np.linalg.svd(a.numpy(), compute_uv=False), dtype)
    u, s, v = taeda.svd(a)
    close(u @ taeda.diag_embed(s).to(u.dtype) @ v.mH, a, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_reflections(dtype):
    a = draw(2, 5, 3, dtype=dtype)
    packed, tau = taeda.geqrf(a)
    q = linalg.householder_product(packed, tau)
    unit(q, dtype)
    close(q @ packed[..., :3, :].triu(), a, dtype)
    c = draw(2, 5, 4, dtype=dtype, seed=1)
    whole = linalg.householder_product(
        taeda.cat([packed, taeda.zeros(2, 5, 2, dtype=a.dtype)], -1), tau
    )
    for transpose, factor in ((False, whole), (True, whole.mH)):
        close(taeda.ormqr(packed, tau, c, transpose=transpose), factor @ c, dtype)
        close(taeda.ormqr(packed, tau, c.mT, left=False, transpose=transpose), c.mT @ factor, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [(12, 7), (7, 12)])
def test_low_rank(size, dtype):
    a = draw(2, size[0], 3, dtype=dtype) @ draw(2, 3, size[1], dtype=dtype, seed=1)
    for shift in (None, draw(1, 1, size[1], dtype=dtype)):
        moved = a if shift is None else a + shift
        u, s, v = taeda.svd_lowrank(moved, q=3, M=shift)
        close(u * s.unsqueeze(-2) @ v.mH, a, dtype)
        close(s, linalg.svdvals(a)[..., :3], dtype)
    u, s, v = taeda.pca_lowrank(a, q=3)
    close(u * s.unsqueeze(-2) @ v.mH, a - a.mean(-2, keepdim=True), dtype)
    assert taeda.pca_lowrank(a, center=False)[1].shape == (2, 6)
    for call in (lambda: taeda.pca_lowrank(a, q=8), lambda: taeda.pca_lowrank(a, niter=-1)):
        with pytest.raises(ValueError, match="must be non-negative integer"):
            call()
    with pytest.raises(ValueError, match="q=-1"):
        taeda.svd_lowrank(a, q=-1)
