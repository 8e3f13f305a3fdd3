"""First and second derivatives of linear algebra, of real and complex matrices."""

from __future__ import annotations

import numpy as np
import pytest

import taeda
from taeda import linalg
from taeda.autograd import gradcheck, gradgradcheck


def draw(*shape, dtype="float64", seed=0):
    rng = np.random.default_rng(seed)
    array = rng.standard_normal(shape)
    if dtype == "complex128":
        array = array + 1j * rng.standard_normal(shape)
    return taeda.from_numpy(array).requires_grad_()


def positive(a):
    return a @ a.mH + taeda.eye(a.size(-2), dtype=a.dtype)


def hermitian(a):
    return a + a.mH


def shape_of_svd(a):
    """What does not depend on the phases of the vectors."""
    u, s, vh = linalg.svd(a, full_matrices=False)
    return u.abs(), s, vh.abs(), u @ vh


CALLS = {
    "cholesky": (lambda a: linalg.cholesky(positive(a)), (2, 3, 3)),
    "cholesky, upper": (lambda a: linalg.cholesky(positive(a), upper=True), (3, 3)),
    "cholesky_inverse": (lambda a: taeda.cholesky_inverse(linalg.cholesky(positive(a))), (3, 3)),
    "cholesky_solve": (lambda b, a: taeda.cholesky_solve(b, linalg.cholesky(positive(a))), (3, 2), (3, 3)),
    "qr, tall": (lambda a: linalg.qr(a), (2, 4, 3)),
    "qr, square": (lambda a: linalg.qr(a), (3, 3)),
    "qr, wide": (lambda a: linalg.qr(a, "complete"), (2, 4)),
    "lu, square": (lambda a: linalg.lu(a)[1:], (2, 3, 3)),
    "lu, tall": (lambda a: linalg.lu(a)[1:], (4, 2)),
    "lu, wide": (lambda a: linalg.lu(a)[1:], (2, 4)),
    "lu_solve": (lambda a, b: linalg.lu_solve(*linalg.lu_factor(a), b), (3, 3), (3, 2)),
    "lu_solve, "
    "adjoint": (lambda a, b: linalg.lu_solve(*linalg.lu_factor(a), b, adjoint=True), (3, 3), (2, 3, 2)),
    "lu_solve, right": (lambda a, b: linalg.lu_solve(*linalg.lu_factor(a), b, left=False), (2, 3, 3), (2, 3)),
    "lu_solve of "
    "factors": (lambda a, b: linalg.lu_solve(a, taeda.tensor([2, 3, 3], dtype=taeda.int32), b),
        (3, 3), (3, 2)),
    "eigh": (lambda a: (linalg.eigh(hermitian(a))[0], linalg.eigh(hermitian(a))[1].abs()), (3, 3)),
    "eigvalsh": (lambda a: linalg.eigvalsh(hermitian(a)), (2, 3, 3)),
    "eig": (lambda a: (linalg.eig(a)[0], linalg.eig(a)[1].abs()), (3, 3)),
    "svd, tall": (shape_of_svd, (4, 3)),
    "svd, wide": (shape_of_svd, (3, 4)),
    "svdvals": (linalg.svdvals, (2, 3, 3)),
    "householder_product": (linalg.householder_product, (4, 3), (3,)),
    "ormqr": (lambda a, t, c: taeda.ormqr(a, t, c, transpose=True), (4, 2), (2,), (4, 2)),
    "inv": (linalg.inv, (2, 3, 3)),
    "solve": (linalg.solve, (3, 3), (2, 3, 2)),
    "solve, right": (lambda a, b: linalg.solve(a, b, left=False), (3, 3), (2, 3)),
    "solve, vector": (linalg.solve, (2, 3, 3), (2, 3)),
    "solve_triangular": (lambda a, b: linalg.solve_triangular(a.triu(), b, upper=True), (3, 3), (3, 2)),
    "solve_triangular, "
    "right": (lambda a, b: linalg.solve_triangular(a.tril(), b, upper=False, left=False,
        unitriangular=True), (3, 3), (2, 3)),
    "pinv, tall": (linalg.pinv, (4, 3)),
    "pinv, wide": (linalg.pinv, (2, 3)),
    "lstsq": (lambda a, b: linalg.lstsq(a, b)[0], (4, 2), (4, 3)),
    "lstsq, batches": (lambda a, b: linalg.lstsq(a, b, driver="gelsd")[:2], (1, 4, 2), (2, 4, 3)),
    "lstsq, wide": (lambda a, b: linalg.lstsq(a, b, driver="gels")[0], (2, 3), (2, 2)),
    "det": (linalg.det, (2, 3, 3)),
    "slogdet": (linalg.slogdet, (2, 3, 3)),
    "matrix_norm": (lambda a: [linalg.matrix_norm(a, o) for o in ("fro", "nuc", 1, -1, 2, -2,
        np.inf)], (3, 4)),
    "cond": (lambda a: [linalg.cond(a, p) for p in (None, -2, "fro", 1)], (3, 3)),
    "matrix_power": (lambda a: [linalg.matrix_power(a, n) for n in (-2, 1, 3)], (3, 3)),
    "matrix_exp": (linalg.matrix_exp, (2, 3, 3)),
    "cross": (linalg.cross, (2, 3), (2, 3)),
    "vecdot": (linalg.vecdot, (2, 3), (2, 3)),
    "vander": (lambda x: linalg.vander(x), (3,)),
    "tensorinv": (lambda a: linalg.tensorinv(a, 1), (4, 2, 2)),
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("name", CALLS)
def test_derivatives(name, dtype):
    function, *shapes = CALLS[name]
    inputs = [draw(*s, dtype=dtype, seed=i) for i, s in enumerate(shapes)]
    assert gradcheck(function, inputs, atol=1e-4, rtol=1e-3, check_forward_ad=True)
    assert gradgradcheck(function, inputs, atol=1e-3, rtol=1e-3, check_fwd_over_rev=True)


def test_determinant_of_a_singular_matrix_has_its_cofactors():
    a = taeda.tensor([[1.0, 2.0], [2.0, 4.0]], dtype=taeda.float64, requires_grad=True)
    linalg.det(a).backward()
    np.testing.assert_allclose(a.grad.numpy(), [[4, -2], [-2, 1]], atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_the_gradient_of_a_wide_r_keeps_its_digits_where_the_first_columns_are_nearly_dependent(
    seed,
):
    a = taeda.randn(3, 7, generator=taeda.Generator().manual_seed(seed))
    a[:, 2] = a[:, 0] + 1e-3 * a[:, 2]
    weights = taeda.arange(1, 22).reshape(3, 7) / 8.0

    def gradient(a):
        a = a.detach().requires_grad_()
        return taeda.autograd.grad((linalg.qr(a)[1] * weights.to(a.dtype)).sum(), a)[0]

    exact = gradient(a.double())
    assert (gradient(a).double() - exact).abs().max() < 3e-6 * exact.abs().max()


def test_no_derivative_without_q():
    a = draw(3, 3)
    with pytest.raises(RuntimeError, match="needs Q; use mode='reduced'"):
        linalg.qr(a, "r")[1].sum().backward()
    b = draw(4, 2)
    with pytest.raises(RuntimeError, match="more rows than columns"):
        linalg.qr(b, "complete")[0].sum().backward()
