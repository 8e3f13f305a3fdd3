"""Linear algebra by what defines its results, and against numpy: batches, dtypes, layouts, empty matrices, failures, refusals."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

import taeda
from taeda import linalg

TOLERANCE = {"float32": 2e-4, "float64": 1e-9, "complex64": 2e-4, "complex128": 1e-9}
DTYPES = list(TOLERANCE)
BATCHES = [(), (2,), (2, 1, 3)]


def draw(*shape, dtype="float64", seed=0):
    rng = np.random.default_rng(seed)
    array = rng.standard_normal(shape)
    if dtype.startswith("complex"):
        array = array + 1j * rng.standard_normal(shape)
    return taeda.from_numpy(np.asarray(array)).to(getattr(taeda, dtype))


def positive(*shape, dtype="float64"):
    a = draw(*shape, dtype=dtype)
    return a @ a.mH + taeda.eye(shape[-1], dtype=a.dtype)


def close(got, want, dtype="float64"):
    got = got.resolve_conj()
    want = want.resolve_conj().numpy() if isinstance(want, taeda.Tensor) else np.asarray(want)
    assert tuple(got.shape) == want.shape
    np.testing.assert_allclose(got.numpy(), want, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


def unit(q, dtype):
    close(q.mH @ q, taeda.eye(q.size(-1), dtype=q.dtype).expand(*q.shape[:-2], -1, -1), dtype)


# ---- factorizations ----


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


SIZES = [(4, 4), (5, 3), (3, 5)]


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


# ---- solutions ----


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("batch", BATCHES)
def test_solve_and_inv(batch, dtype):
    a, b = draw(*batch, 4, 4, dtype=dtype), draw(*batch, 4, 3, dtype=dtype, seed=1)
    close(a @ linalg.solve(a, b), b, dtype)
    close(linalg.solve(a, b.mT, left=False) @ a, b.mT, dtype)
    close(a @ linalg.solve(a, b[..., 0]).unsqueeze(-1), b[..., :1], dtype)
    close(a @ linalg.inv(a), taeda.eye(4, dtype=a.dtype).expand(a.shape), dtype)
    triangle = a.triu() + 3 * taeda.eye(4, dtype=a.dtype)
    close(triangle @ linalg.solve_triangular(triangle, b, upper=True), b, dtype)
    close(
        linalg.solve_triangular(triangle.mT, b.mT, upper=False, left=False) @ triangle.mT,
        b.mT,
        dtype,
    )
    close(taeda.triangular_solve(b, triangle).solution, linalg.solve(triangle, b), dtype)
    close(
        taeda.triangular_solve(b, triangle, transpose=True)[0], linalg.solve(triangle.mT, b), dtype
    )
    once = triangle.triu(1) + taeda.eye(4, dtype=a.dtype)
    close(
        linalg.solve_triangular(triangle, b, upper=True, unitriangular=True),
        linalg.solve(once, b),
        dtype,
    )


def test_layouts():
    a, b = draw(8, 4)[::2], draw(4, 3, seed=1).t().contiguous().t()
    close(a @ linalg.solve(a, b), b)
    close(linalg.inv(a.t()), np.linalg.inv(a.numpy().T))
    close(linalg.det(a.expand(2, 4, 4)), np.linalg.det(a.numpy()).repeat(2))


def test_singular_matrices_are_named():
    a = taeda.stack([taeda.eye(2), taeda.ones(2, 2)])
    for call in (linalg.inv, taeda.inverse, lambda m: linalg.solve(m, taeda.ones(2, 2, 1))):
        with pytest.raises(
            linalg.LinAlgError, match=r"\(Batch element 1\): The diagonal element 2 is zero"
        ):
            call(a)
    made, info = linalg.inv_ex(a)
    assert info.tolist() == [0, 2]
    assert made[0].tolist() == [[1, 0], [0, 1]]
    assert linalg.solve_ex(a, taeda.ones(2, 2, 1)).info.tolist() == [0, 2]
    assert linalg.det(a).tolist() == [1, 0]
    assert linalg.slogdet(a).logabsdet.tolist() == [0, -np.inf]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", SIZES)
def test_pinv_and_lstsq(size, dtype):
    a = draw(2, *size, dtype=dtype)
    close(linalg.pinv(a), np.linalg.pinv(a.numpy()), dtype)
    b = draw(2, size[0], 2, dtype=dtype, seed=1)
    want = np.stack(
        [np.linalg.lstsq(x, y, rcond=None)[0] for x, y in zip(a.numpy(), b.numpy(), strict=True)]
    )
    made = linalg.lstsq(a, b, driver="gelsd")
    close(made.solution, want, dtype)
    assert made.rank.tolist() == [min(size)] * 2
    close(made.singular_values, linalg.svdvals(a), dtype)
    if size[0] > size[1]:
        error = (np.abs(a.numpy() @ want - b.numpy()) ** 2).sum(-2)
        close(made.residuals, error, dtype)


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


# ---- numbers of a matrix, products ----


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


def test_powers_and_exponentials():
    a = draw(2, 3, 3)
    for n in (-2, -1, 0, 1, 2, 5):
        close(linalg.matrix_power(a, n), np.linalg.matrix_power(a.numpy(), n))
    close(taeda.matrix_exp(a), scipy.linalg.expm(a.numpy()))
    z = draw(3, 3, dtype="complex128")
    close(linalg.matrix_exp(z), scipy.linalg.expm(z.numpy()))


def test_products():
    x, y = draw(4, 3), draw(4, 3, seed=1)
    close(linalg.cross(x, y), np.cross(x.numpy(), y.numpy()))
    close(taeda.cross(x.t(), y.t()), np.cross(x.numpy(), y.numpy()).T)
    z = draw(4, 3, dtype="complex128")
    close(linalg.vecdot(z, z * 2, dim=0), (z.numpy().conj() * z.numpy() * 2).sum(0))
    close(linalg.vander(x[:, 0], N=3), np.vander(x.numpy()[:, 0], 3, increasing=True))
    close(taeda.vander(x[:, 0], 3), np.vander(x.numpy()[:, 0], 3))
    assert taeda.vander(taeda.tensor([1, 2, 3])).tolist() == np.vander([1, 2, 3]).tolist()
    assert linalg.diagonal(x.expand(2, 4, 3)).shape == (2, 3)
    a = draw(6, 2, 3)
    close(taeda.tensordot(a, linalg.tensorinv(a, 1), 2), np.eye(6))
    close(taeda.tensordot(draw(2, 3, 6), linalg.tensorsolve(draw(2, 3, 6), y[:2]), 1), y[:2])


# ---- nothing, and meta tensors ----


def test_empty_matrices():
    none, batch = taeda.empty(0, 0), taeda.empty(0, 3, 3)
    assert linalg.det(none).item() == 1
    assert linalg.inv(none).shape == (0, 0)
    assert linalg.solve(none, taeda.empty(0, 2)).shape == (0, 2)
    assert linalg.svd(taeda.empty(3, 0)).U.shape == (3, 3)
    assert linalg.qr(taeda.empty(3, 0), "complete").Q.tolist() == taeda.eye(3).tolist()
    assert linalg.eigh(batch).eigenvalues.shape == (0, 3)
    assert linalg.lu(batch).L.shape == (0, 3, 3)
    assert linalg.pinv(taeda.empty(0, 3)).shape == (3, 0)
    assert linalg.svd(taeda.empty(2, 3, device="meta")).Vh.shape == (3, 3)
    assert linalg.inv(taeda.empty(3, 3, device="meta")).is_meta


ones = taeda.ones


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: linalg.inv(ones(2, 3)), "batches of square matrices, but they are 2 by 3"),
        (lambda: linalg.inv(ones(3)), "at least 2 dimensions"),
        (lambda: linalg.inv(ones(2, 2).long()), "floating point or complex tensor"),
        (lambda: linalg.inv(ones(2, 2).half()), "Low precision dtypes"),
        (lambda: linalg.det(ones(2, 3)), "square"),
        (lambda: linalg.cholesky(ones(2, 3)), "square"),
        (lambda: linalg.solve(ones(2, 2), ones(3, 1)), r"Incompatible shapes of A and B .*2x2 and 3x1"),
        (lambda: linalg.solve(ones(2, 2), ones(2, 1).double()), "one dtype"),
        (lambda: linalg.solve(ones(2, 2), ones(2), left=False), "left=False"),
        (lambda: linalg.solve_triangular(ones(2, 2), ones(3, 1), upper=True), "Incompatible shapes"),
        (lambda: linalg.qr(ones(2, 2), "full"), "unrecognized mode 'full'"),
        (lambda: linalg.eigh(ones(2, 2), "X"), "UPLO argument to be 'L' or 'U', but got X"),
        (lambda: linalg.eig(ones(2, 2) * float("nan")), "infs or NaNs"),
        (lambda: linalg.svd(ones(2, 2), driver="gesvd"), "only supported on CUDA"),
        (lambda: linalg.lstsq(ones(2, 2), ones(3, 1)), "2 and 3"),
        (lambda: linalg.lstsq(ones(2, 2), ones(2, 1), driver="qr"), "driver"),
        (lambda: linalg.matrix_norm(ones(2, 2), 3), "Order 3 not supported"),
        (lambda: linalg.matrix_norm(ones(2, 2), "max"), "Order max not supported"),
        (lambda: linalg.matrix_norm(ones(2, 2), 1, (0, 0)), "must be different"),
        (lambda: linalg.matrix_norm(ones(2)), "at least 2 dimensions"),
        (lambda: linalg.norm(ones(2, 2, 2), 2), "1D or 2D. Got 3D"),
        (lambda: linalg.cond(ones(2, 2), 3), "invalid norm type: 3"),
        (lambda: linalg.cross(ones(4), ones(4)), "must have length 3"),
        (lambda: taeda.cross(ones(4), ones(4)), "no dimension of size 3"),
        (lambda: linalg.vander(ones(3), N=1), "greater than 1"),
        (lambda: taeda.vander(ones(3, 3)), "one-dimensional"),
        (lambda: linalg.tensorinv(ones(2, 3), ind=0), "strictly positive"),
        (lambda: linalg.tensorinv(ones(2, 3), ind=1), "3 != 2"),
        (lambda: linalg.tensorsolve(ones(2, 3), ones(2)), "3 != 2"),
        (lambda: linalg.householder_product(ones(2, 3), ones(2)), "greater than or equal"),
        (lambda: linalg.lu_solve(ones(2, 2), taeda.tensor([1, 2]), ones(2, 1)), "int32"),
        (lambda: linalg.ldl_factor(ones(2, 3)), "square"),
        (lambda: linalg.ldl_solve(ones(2, 2), ones(2), ones(2, 1)), "int32"),
        (lambda: linalg.ldl_solve(ones(2, 2), taeda.tensor([1, 2]), ones(3, 1)), "Incompatible shapes"),
        (lambda: linalg.ldl_solve(ones(2, 2), taeda.tensor([1]), ones(2, 1)), "Incompatible shapes"),
        (lambda: linalg.vecdot(taeda.tensor([1]), taeda.tensor([1])), "floating point or complex"),
    ],
)  # fmt: skip
def test_refusals(call, message):
    with pytest.raises(RuntimeError, match=message):
        call()
