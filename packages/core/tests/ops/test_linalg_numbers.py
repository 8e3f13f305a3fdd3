"""Linear algebra where it is hard: NaN and infinity, singular and large matrices, unusual layouts,
broadcast batches.
"""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

import taeda
from taeda import linalg

DTYPES = [taeda.float32, taeda.float64, taeda.complex64, taeda.complex128]
BAD = [float("nan"), float("inf"), -float("inf")]


def draw(*shape, dtype=taeda.float64, seed=0):
    rng = np.random.default_rng(seed)
    array = rng.standard_normal(shape)
    if dtype.is_complex:
        array = array + 1j * rng.standard_normal(shape)
    return taeda.from_numpy(np.asarray(array)).to(dtype)


def close(got, want, dtype=taeda.float64, scale=1.0):
    want = want.resolve_conj().numpy() if isinstance(want, taeda.Tensor) else np.asarray(want)
    assert tuple(got.shape) == want.shape
    limit = scale * (2e-4 if dtype in (taeda.float32, taeda.complex64) else 1e-9)
    np.testing.assert_allclose(got.resolve_conj().numpy(), want, rtol=limit, atol=limit)


def spoiled(bad, dtype, n=5):
    a = taeda.eye(n, dtype=dtype).repeat(3, 1, 1)
    a[1, 2, 1] = bad
    return a


# ---- NaN and infinity ----


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("bad", BAD)
def test_iterations_refuse_what_is_not_finite(bad, dtype):
    a = spoiled(bad, dtype)
    says = (
        r"\(Batch element 1\): The algorithm failed to converge because the input matrix contained "
        r"non-finite"
    )
    for call in (linalg.svd, linalg.svdvals, linalg.eigh, linalg.eigvalsh):
        with pytest.raises(linalg.LinAlgError, match=says):
            call(a)
    for call in (linalg.eig, linalg.eigvals):
        with pytest.raises(RuntimeError, match="should not contain infs or NaNs"):
            call(a)


def test_a_triangle_that_is_not_read_may_hold_anything():
    a = draw(4, 4)
    a = a + a.mT
    want = linalg.eigvalsh(a)
    other = taeda.where(taeda.ones(4, 4).tril() == 1, a, float("nan"))
    close(linalg.eigvalsh(other), want)
    close(linalg.eigvalsh(other.mT, "U"), want)
    b = other + 10 * taeda.eye(4, dtype=a.dtype)
    close(linalg.cholesky(b), np.linalg.cholesky((a + 10 * taeda.eye(4)).numpy()))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("bad", BAD)
def test_direct_methods_end(bad, dtype):
    a = spoiled(bad, dtype)
    q, r = linalg.qr(a)
    assert not (q @ r)[1].isfinite().all()
    close(q[0] @ r[0], a[0], dtype)
    packed, _, _ = linalg.lu_factor_ex(a)
    assert packed.shape == a.shape
    made, info = linalg.inv_ex(a)
    assert info[0] == 0
    close(made[2], a[2], dtype)
    assert linalg.det(a)[0] == 1
    solution = linalg.solve_ex(a, taeda.ones(3, 5, 2, dtype=dtype)).result
    close(solution[0], np.ones((5, 2)), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_pivot_that_is_no_number_is_not_positive(dtype):
    a = spoiled(1.0, dtype)
    a[1, 2, 2] = float("nan")
    assert linalg.cholesky_ex(a).info.tolist() == [0, 3, 0]
    with pytest.raises(linalg.LinAlgError, match=r"\(Batch element 1\): .*order 3"):
        linalg.cholesky(a)


# ---- sizes: past the panels of LU and the blocks of right sides ----


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [(161, 161), (200, 330), (330, 200), (512, 512), (129, 400)])
def test_lu_by_panels(size, dtype):
    a = draw(*size, dtype=dtype)
    packed, pivots = linalg.lu_factor(a)
    want = scipy.linalg.lapack.get_lapack_funcs("getrf", (a.numpy(),))(a.numpy())
    close(packed, want[0], dtype, scale=500)
    assert (pivots - 1).tolist() == want[1].tolist()


def test_lu_by_panels_tells_of_the_first_zero():
    for place in (0, 70, 199):
        a = taeda.eye(200, dtype=taeda.float64)
        a[place, place] = 0
        a[199, 199] = 0
        assert linalg.lu_factor_ex(a).info.item() == place + 1
        with pytest.raises(linalg.LinAlgError, match=f"diagonal element {place + 1} is zero"):
            linalg.solve(a, a)


@pytest.mark.parametrize("dtype", DTYPES)
def test_lu_of_triangles_whose_inverses_are_large(dtype):
    # Whole numbers in the first columns, so that no rounding decides about pivots; the inverse of
    # L's first 32 rows has powers of 2 up to 2^30.
    below = taeda.eye(200) - taeda.ones(200, 200).tril(-1)
    above = draw(200, 200).triu()
    above[:, :64] = (2 * draw(200, 64)).round().triu(1) + taeda.eye(200, 64)
    a = (below.double() @ above).to(dtype)
    assert linalg.lu_factor(a)[1][:64].tolist() == list(range(1, 65))
    p, lower, upper = linalg.lu(a)
    close((p @ lower @ upper - a) / upper.abs().amax(), a * 0, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(64, 64), (130, 130), (3, 70, 70), (70, 71), (200, 40)])
def test_svd_by_steps(shape, dtype):
    a = draw(*shape, dtype=dtype)
    for full in (True, False):
        u, s, vh = linalg.svd(a, full_matrices=full)
        k = s.size(-1)
        close(u.mH @ u, taeda.eye(u.size(-1), dtype=dtype).expand(*shape[:-2], -1, -1), dtype)
        close(vh @ vh.mH, taeda.eye(vh.size(-2), dtype=dtype).expand(*shape[:-2], -1, -1), dtype)
        close(u[..., :k] * s.unsqueeze(-2) @ vh[..., :k, :], a, dtype)
        close(s, np.linalg.svd(a.numpy(), compute_uv=False), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("power", [-1, 1])
def test_svd_of_very_small_and_very_large_numbers(power, dtype):
    factor = 10.0 ** (power * (30 if dtype in (taeda.float32, taeda.complex64) else 290))
    a = draw(80, 80, dtype=dtype)
    u, s, vh = linalg.svd(a * factor)
    close(s / factor, linalg.svdvals(a), dtype)
    close(u * (s / factor) @ vh, a, dtype)
    assert linalg.svd(a * 0)[1].tolist() == [0] * 80


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("columns", [1, 64, 65, 200])
def test_many_right_sides(columns, dtype):
    a = draw(180, 180, dtype=dtype) + 20 * taeda.eye(180, dtype=dtype)
    b = draw(180, columns, dtype=dtype, seed=1)
    for matrix in (a, a.mT, a.mH):
        close(matrix @ linalg.solve(matrix, b), b, dtype, scale=10)
        close(
            matrix.triu() @ linalg.solve_triangular(matrix.triu(), b, upper=True),
            b,
            dtype,
            scale=10,
        )
        right = linalg.solve_triangular(matrix, b.mT, upper=False, left=False, unitriangular=False)
        close(right @ matrix.tril(), b.mT, dtype, scale=10)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_bits_do_not_depend_on_threads(threads):
    before = taeda.get_num_threads()
    a, b = draw(300, 300, dtype=taeda.float32), draw(300, 150, dtype=taeda.float32, seed=1)
    calls = [lambda: linalg.solve(a, b), lambda: linalg.inv(a), lambda: linalg.qr(a)[1],
        lambda: linalg.svd(a)[1], lambda: linalg.lu_factor(a)[0]]  # fmt: skip
    try:
        taeda.set_num_threads(1)
        want = [call() for call in calls]
        taeda.set_num_threads(threads)
        assert all(taeda.equal(call(), w) for call, w in zip(calls, want, strict=True))
    finally:
        taeda.set_num_threads(before)


# ---- LDL ----


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("hermitian", [False, True])
@pytest.mark.parametrize("batch", [(), (2, 3)])
def test_ldl(batch, hermitian, dtype):
    a = draw(*batch, 6, 6, dtype=dtype)
    a = a + (a.mH if hermitian else a.mT)
    a = a - taeda.diag_embed(a.diagonal(0, -2, -1))  # pivots of 0: blocks of two rows
    packed, pivots = linalg.ldl_factor(a.tril(), hermitian=hermitian)
    assert taeda.equal(packed, packed.tril())
    assert (pivots < 0).any()
    b = draw(*batch, 6, 2, dtype=dtype, seed=1)
    close(a @ linalg.ldl_solve(packed, pivots, b, hermitian=hermitian), b, dtype, scale=10)
    close(
        a @ linalg.ldl_solve(packed, pivots.long(), b[..., :1], hermitian=hermitian),
        b[..., :1],
        dtype,
        scale=10,
    )
    find = scipy.linalg.lapack.get_lapack_funcs(
        "hetrf" if hermitian and dtype.is_complex else "sytrf", (a.numpy(),)
    )
    want = find(a.reshape(-1, 6, 6)[0].numpy(), lower=1)
    close(packed.reshape(-1, 6, 6)[0], np.tril(want[0]), dtype)


def test_ldl_of_singular_matrices():
    a = taeda.stack([taeda.eye(3), taeda.zeros(3, 3)])
    assert linalg.ldl_factor_ex(a).info.tolist() == [0, 1]
    for call in (linalg.ldl_factor, lambda m: linalg.ldl_factor_ex(m, check_errors=True)):
        with pytest.raises(
            linalg.LinAlgError,
            match=r"linalg\.ldl_factor: \(Batch element 1\): Element 1 of D is zero",
        ):
            call(a)
    assert linalg.ldl_factor(taeda.empty(0, 0)).LD.shape == (0, 0)
    assert linalg.ldl_factor_ex(taeda.empty(2, 3, 3, device="meta")).info.shape == (2,)


@pytest.mark.parametrize(
    "wrong", [[1, 2, 4], [0, 2, 3], [1, 2, -3], [-1, -2, 3], [-4, -4, 3], [-1, 2, 3]]
)
def test_ldl_pivots_that_cannot_be(wrong):
    with pytest.raises(
        RuntimeError,
        match=r"linalg\.ldl_solve: pivots must lie between 1 and the 3 rows, or be two equal negative",
    ):
        linalg.ldl_solve(taeda.eye(3), taeda.tensor(wrong), taeda.ones(3, 1))


# ---- least squares ----


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("driver", ["gels", "gelsy", "gelsd", "gelss", None])
@pytest.mark.parametrize("size", [(7, 4), (4, 7), (5, 5)])
@pytest.mark.parametrize("batch", [(), (3,), (2, 1)])
def test_least_squares(batch, size, driver, dtype):
    a, b = draw(*batch, *size, dtype=dtype), draw(*batch, size[0], 2, dtype=dtype, seed=1)
    made = linalg.lstsq(a, b, driver=driver)
    close(made.solution, np.linalg.pinv(a.numpy()) @ b.numpy(), dtype, scale=10)
    if driver != "gels":
        assert made.rank.tolist() == taeda.full(batch, min(size)).tolist()
    one = linalg.lstsq(a, b[..., 0], driver=driver) if batch else None
    if one is not None:
        close(one.solution, made.solution[..., 0], dtype, scale=10)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("driver", ["gelsy", "gelsd", "gelss"])
def test_least_squares_without_full_rank(driver, dtype):
    a = draw(6, 2, dtype=dtype) @ draw(2, 4, dtype=dtype, seed=1)
    b = draw(6, 3, dtype=dtype, seed=2)
    made = linalg.lstsq(a, b, driver=driver, rcond=1e-4)
    assert made.rank.item() == 2
    assert made.residuals.numel() == 0
    close(made.solution, np.linalg.pinv(a.numpy(), rcond=1e-4) @ b.numpy(), dtype, scale=10)


def test_least_squares_of_batches_that_broadcast():
    a, b = draw(1, 5, 2), draw(3, 5, 4, seed=1)
    made = linalg.lstsq(a, b, driver="gelsd")
    close(made.solution, np.linalg.pinv(a.numpy()) @ b.numpy())
    assert made.rank.shape == (1,)
    assert made.singular_values.shape == (1, 2)
    assert made.residuals.shape == (3, 4)
    wide = linalg.lstsq(draw(5, 2), b)
    close(wide.solution, np.linalg.pinv(draw(5, 2).numpy()) @ b.numpy())
    assert wide.rank.shape == ()


def test_least_squares_of_nothing():
    assert linalg.lstsq(taeda.empty(0, 2), taeda.empty(0, 1)).solution.tolist() == [[0], [0]]
    assert linalg.lstsq(taeda.empty(2, 0), taeda.empty(2, 1)).solution.shape == (0, 1)
    assert linalg.lstsq(
        taeda.empty(0, 3, 2), taeda.empty(0, 3, 1), driver="gelsd"
    ).singular_values.shape == (0, 2)
    assert linalg.lstsq(taeda.ones(3, 2), taeda.ones(3, 0)).solution.shape == (2, 0)
    assert linalg.lstsq(
        taeda.empty(4, 3, 2, device="meta"), taeda.empty(4, 3, 1, device="meta")
    ).solution.shape == (4, 2, 1)


def test_least_squares_that_have_no_answer():
    a = taeda.eye(3, 2).repeat(2, 1, 1)
    a[1, 0, 0] = float("nan")
    for driver in ("gelsd", "gelss"):
        with pytest.raises(linalg.LinAlgError, match=r"\(Batch element 1\): .*non-finite"):
            linalg.lstsq(a, taeda.ones(2, 3, 1), driver=driver)
    for driver in ("gels", "gelsy"):
        assert linalg.lstsq(a, taeda.ones(2, 3, 1), driver=driver).solution[0].tolist() == [
            [1],
            [1],
        ]
    flat = taeda.tensor([[1.0, 0.0], [2.0, 0.0], [0.0, 0.0]])
    with pytest.raises(linalg.LinAlgError, match="does not have full rank"):
        linalg.lstsq(flat, taeda.ones(3, 1), driver="gels")


# ---- layouts ----


def layouts(a):
    """The same batch of square matrices, laid out otherwise."""
    yield "columns", a.mT.contiguous().mT
    wide = a.new_zeros(*a.shape[:-1], 2 * a.size(-1))
    wide[..., ::2] = a
    yield "every second", wide[..., ::2]
    yield "batch last", a.movedim(0, -1).contiguous().movedim(-1, 0)
    yield "reversed and back", a.flip(0).flip(0)
    yield "part of rows", taeda.cat([a, a], -1)[..., : a.size(-1)]
    yield "part of columns", taeda.cat([a, a], -2).mT.contiguous().mT[..., : a.size(-2), :]
    if a.is_complex():
        yield "conjugated", a.conj().resolve_conj().conj()


@pytest.mark.parametrize("dtype", DTYPES)
def test_layouts_do_not_matter(dtype):
    a = draw(3, 5, 5, dtype=dtype) + 4 * taeda.eye(5, dtype=dtype)
    b = draw(3, 5, 2, dtype=dtype, seed=1)
    calls = [
        linalg.inv, linalg.det, linalg.svdvals, lambda x: linalg.solve(x, b), lambda x: linalg.qr(x)[1].abs(),
        lambda x: linalg.lu_factor(x)[0], lambda x: linalg.cholesky(x @ x.mH),
        lambda x: linalg.eigvalsh(x), lambda x: taeda.geqrf(x)[1],
        lambda x: linalg.solve_triangular(x, b, upper=True),
        lambda x: linalg.solve_triangular(x, b, upper=False, unitriangular=True),
        lambda x: linalg.eigvals(x).abs().sort()[0], lambda x: linalg.solve(x, b.mT, left=False),
    ]  # fmt: skip
    for name, other in layouts(a):
        for k, call in enumerate(calls):
            got, want = call(other), call(a)
            assert taeda.allclose(got.resolve_conj(), want.resolve_conj(), rtol=1e-3, atol=1e-3), (
                name,
                k,
            )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("left", "right"), [((2, 1), (1, 3)), ((), (2,)), ((3,), ()), ((1,), (4,))]
)
def test_batches_broadcast(left, right, dtype):
    a = draw(*left, 3, 3, dtype=dtype) + 3 * taeda.eye(3, dtype=dtype)
    b = draw(*right, 3, 2, dtype=dtype, seed=1)
    shape = taeda.broadcast_shapes(left, right)
    want = np.linalg.solve(
        np.broadcast_to(a.numpy(), (*shape, 3, 3)), np.broadcast_to(b.numpy(), (*shape, 3, 2))
    )
    close(linalg.solve(a, b), want, dtype)
    assert linalg.solve_ex(a, b).info.shape == left
    triangle = np.triu(np.broadcast_to(a.numpy(), (*shape, 3, 3)))
    close(
        linalg.solve_triangular(a, b, upper=True),
        np.linalg.solve(triangle, np.broadcast_to(b.numpy(), (*shape, 3, 2))),
        dtype,
    )
    close(linalg.lu_solve(*linalg.lu_factor(a), b), want, dtype)


def test_a_batch_of_many_small_matrices():
    a = draw(1000, 3, 3) + 3 * taeda.eye(3)
    close(linalg.inv(a), np.linalg.inv(a.numpy()))
    close(linalg.svdvals(a), np.linalg.svd(a.numpy(), compute_uv=False))
    close(linalg.eigvalsh(a), np.linalg.eigvalsh(a.numpy()))
    sign, size = linalg.slogdet(a)
    want = np.linalg.slogdet(a.numpy())
    close(sign, want[0])
    close(size, want[1])


def test_determinants_of_singular_and_special_matrices():
    zero = taeda.zeros(2, 2)
    assert linalg.det(zero).item() == 0
    assert linalg.slogdet(zero).sign.item() == 0
    assert linalg.slogdet(zero).logabsdet.item() == -np.inf
    turn = taeda.tensor([[0.0, 1.0], [1.0, 0.0]])
    assert linalg.det(turn).item() == -1
    assert linalg.slogdet(turn).sign.item() == -1
    assert linalg.slogdet(taeda.tensor([[2j]])).sign.item() == 1j
    assert linalg.slogdet(taeda.empty(2, 0, 0)).sign.tolist() == [1, 1]


def test_pivots_that_cannot_be():
    packed = taeda.eye(3)
    for wrong in ([1, 2, 4], [0, 2, 3], [1, -2, 3]):
        with pytest.raises(RuntimeError, match="between 1 and the 3 rows"):
            taeda.lu_unpack(packed, taeda.tensor(wrong, dtype=taeda.int32))
        with pytest.raises(
            RuntimeError, match=r"linalg\.lu_solve: pivots must lie between 1 and the 3 rows"
        ):
            linalg.lu_solve(packed, taeda.tensor(wrong, dtype=taeda.int32), packed)


@pytest.mark.parametrize(
    "name", ["inv", "svd", "qr", "eigh", "eig", "det", "cholesky", "lu_factor"]
)
def test_memory_that_is_out_is_an_error(name):
    a = draw(20, 20)
    a = a @ a.mT
    call = getattr(linalg, name)
    call(a)
    before = taeda._core.memory_stats()["allocated"]
    failures = 0
    for n in range(1, 12):
        taeda._core.memory_fail_at(n)
        try:
            call(a)
        except MemoryError:
            failures += 1
        finally:
            taeda._core.memory_fail_at(0)
        assert taeda._core.memory_stats()["allocated"] == before
    assert failures > 1


SQUARE = ("cholesky", "inv", "eigh", "eig", "slogdet", "det", "ldl")
REST = {
    "cholesky": (False,),
    "eigh": ("L", True),
    "eig": (True,),
    "ldl": (False,),
    "lu": (True,),
    "qr": ("reduced",),
    "svd": (True, True),
}


def row(name):
    return getattr(taeda, f"_linalg_{name}")


@pytest.mark.parametrize("name", SQUARE)
@pytest.mark.parametrize("dtype", [taeda.float32, taeda.complex64])
def test_a_row_of_the_table_refuses_what_is_not_square(name, dtype):
    for shape in ((2, 8, 1), (1, 8), (3, 0)):
        with pytest.raises(RuntimeError, match="square matrices"):
            row(name)(taeda.ones(shape, dtype=dtype), *REST.get(name, ()))


@pytest.mark.parametrize("name", [*SQUARE, "lu", "qr", "svd"])
def test_a_row_of_the_table_refuses_what_is_no_matrix(name):
    with pytest.raises(RuntimeError, match=r"at least 2 dimensions, but got one of shape \[3\]"):
        row(name)(taeda.ones(3), *REST.get(name, ()))
    with pytest.raises(RuntimeError, match="but got int64"):
        row(name)(taeda.ones(2, 2, dtype=taeda.int64), *REST.get(name, ()))


@pytest.mark.parametrize(
    ("name", "rest"), [("solve", ()), ("triangular", (True, False)), ("lstsq", (0.0, "gels"))]
)
def test_rows_of_two_matrices_refuse_what_does_not_fit(name, rest):
    A = taeda.eye(3)
    for B, words in (
        (taeda.ones(2, 1), "A has 3 rows and B has 2"),
        (taeda.ones(3, 1).double(), "one dtype"),
    ):
        with pytest.raises(RuntimeError, match=words):
            row(name)(A, B, *rest)


@pytest.mark.parametrize("name", ["lu_solve", "ldl_solve"])
def test_exchanges_of_another_shape_or_dtype_are_refused(name):
    A, B = taeda.eye(3), taeda.ones(3, 1)
    for pivots, words in (
        (taeda.ones(2), "int32, but got float32"),
        (taeda.ones(2, dtype=taeda.int32), r"shape \[3\], but got \[2\]"),
    ):
        with pytest.raises(RuntimeError, match=words):
            row(name)(A, pivots, B, False)
    with pytest.raises(RuntimeError, match="expected pivots of int32"):
        row("permutation")(taeda.ones(3), 3)
