"""Products of matrices against numpy: shapes, dtypes, layouts, special values, threads, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from arrays import values

import taeda

TOLERANCE = {"float16": 5e-3, "bfloat16": 4e-2, "float32": 2e-5, "float64": 1e-12,
             "complex64": 2e-5, "complex128": 1e-12}  # fmt: skip
INTEGERS = ["uint8", "int8", "int16", "int32", "int64"]


def draw(shape, dtype="float64", seed=0):
    rng = np.random.default_rng(seed)
    if dtype in INTEGERS:
        return taeda.from_numpy(rng.integers(0, 5, shape)).to(getattr(taeda, dtype))
    array = rng.standard_normal(shape)
    if dtype.startswith("complex"):
        array = array + 1j * rng.standard_normal(shape)
    return taeda.from_numpy(np.ascontiguousarray(array)).to(getattr(taeda, dtype))


def close(got, want, dtype="float64", terms=1):
    slack = TOLERANCE[dtype] * max(1.0, np.sqrt(terms))
    assert tuple(got.shape) == np.shape(want)
    np.testing.assert_allclose(values(got), want, rtol=slack, atol=slack)


# ---- matmul's rules of shape ----

SHAPES = [
    ((3,), (3,)), ((4, 3), (3,)), ((3,), (3, 5)), ((4, 3), (3, 5)), ((1, 1), (1, 1)),
    ((2, 4, 3), (3, 5)), ((4, 3), (2, 3, 5)), ((2, 4, 3), (2, 3, 5)), ((2, 4, 3), (3,)), ((3,), (2, 3, 5)),
    ((2, 1, 4, 3), (6, 3, 5)), ((1, 4, 3), (7, 3, 5)), ((7, 4, 3), (1, 3, 5)), ((3, 1, 2, 2), (1, 4, 2, 2)),
    ((1, 64), (64, 200)), ((200, 64), (64, 1)), ((65, 130), (130, 67)), ((300, 40), (40, 7)),
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_matmul_of_every_pair_of_ranks(shapes, dtype):
    a, b = draw(shapes[0], dtype), draw(shapes[1], dtype, 1)
    close(a @ b, np.matmul(values(a), values(b)), dtype, shapes[0][-1])


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("n", [3, 33, 150])
def test_floating_dtypes(dtype, n):
    a, b = draw((n, n + 1), dtype), draw((n + 1, n + 2), dtype, 1)
    got = taeda.mm(a, b)
    assert got.dtype is a.dtype
    close(got, values(a) @ values(b), dtype, n)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_wrap_around(dtype):
    a, b = draw((7, 30), dtype), draw((30, 5), dtype, 1)
    want = (values(a) @ values(b)).astype(np.int64).astype(dtype)
    assert taeda.mm(a, b).tolist() == want.tolist()
    assert (a @ b[:, 0]).tolist() == want[:, 0].tolist()


# ---- layouts ----

LAYOUTS = {
    "contiguous": lambda t: t,
    "transposed": lambda t: t.t().contiguous().t(),
    "every other column": lambda t: t.repeat_interleave(2, 1)[:, ::2],
    "every other row": lambda t: t.repeat_interleave(2, 0)[::2],
    "shifted": lambda t: taeda.cat([t[:1], t])[1:],
    "reversed twice": lambda t: t.flip(0).flip(0),
}


@pytest.mark.parametrize("right", LAYOUTS)
@pytest.mark.parametrize("left", LAYOUTS)
@pytest.mark.parametrize("shape", [(5, 4, 6), (70, 65, 90), (1, 40, 30), (40, 30, 1)], ids=str)
def test_layouts(left, right, shape):
    m, k, n = shape
    a, b = draw((m, k), "float32"), draw((k, n), "float32", 1)
    got = LAYOUTS[left](a) @ LAYOUTS[right](b)
    close(got, values(a) @ values(b), "float32", k)
    assert got.is_contiguous()


def test_expanded_operands():
    row, column = draw((1, 4)), draw((4, 1), seed=1)
    close(
        row.expand(3, 4) @ column.expand(4, 2),
        np.full((3, 2), (values(row) @ values(column))[0, 0]),
    )
    batch = draw((3, 4)).expand(5, 3, 4)
    close(batch @ draw((4, 2), seed=1), values(batch) @ values(draw((4, 2), seed=1)))


def test_conjugated_operands():
    a, b = draw((3, 4), "complex64"), draw((5, 4), "complex64", 1)
    close(a @ b.mH, values(a) @ values(b).conj().T, "complex64", 4)
    close(a.conj() @ b.t(), values(a).conj() @ values(b).T, "complex64", 4)


# ---- empty, large, special values ----


@pytest.mark.parametrize(
    ("a", "b", "shape"),
    [((0, 3), (3, 4), (0, 4)), ((2, 0), (0, 4), (2, 4)), ((2, 3), (3, 0), (2, 0)), ((0,), (0,), ()),
     ((5, 0), (0,), (5,)), ((0, 2, 3), (3, 4), (0, 2, 4)), ((4, 2, 0), (4, 0, 3), (4, 2, 3))],
)  # fmt: skip
def test_empty_operands_sum_to_zero(a, b, shape):
    got = taeda.ones(a) @ taeda.ones(b)
    assert got.shape == shape
    assert not got.any()


def test_a_large_product():
    a, b = draw((513, 1025), "float32"), draw((1025, 257), "float32", 1)
    close(a @ b, values(a) @ values(b), "float32", 1025)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("m", "n", "k"), [(25, 128, 700), (160, 70, 65), (301, 17, 513)])
def test_few_columns(m, n, k, dtype):
    """Rows of the left factor are read where they stand, but for the last few."""
    a, b, c = draw((m, k + 3), dtype)[:, 3:], draw((n, k), dtype, 1), draw((m, n), dtype, 2)
    want = values(a) @ values(b).T
    close(a @ b.mT, want, dtype, k)
    close(a @ b.mT.contiguous(), want, dtype, k)
    close(taeda.addmm(c, a, b.mT, beta=2, alpha=0.5), 2 * values(c) + 0.5 * want, dtype, k)


@pytest.mark.parametrize("n", [4, 100])
def test_nan_and_infinity_reach_their_row_and_no_other(n):
    a, b = taeda.ones(n, n), taeda.ones(n, n)
    a[1, 2] = float("nan")
    a[2, 0] = float("inf")
    got = a @ b
    assert got[1].isnan().all()
    assert (got[2] == float("inf")).all()
    assert (got[3:] == n).all()
    assert (got[0] == n).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("m", "n"), [(1, 1), (2, 3), (5, 8), (9, 17), (33, 40), (3, 200)])
def test_a_product_of_depth_one_is_exact(m, n, dtype):
    a, b, bias = draw((m, 1), dtype), draw((1, n), dtype, 1), draw((n,), dtype, 2)
    products = values(a).astype(dtype) * values(b).astype(dtype)
    assert np.array_equal(values(a @ b), products)
    assert np.array_equal(values(taeda.addmm(bias, a, b)), values(bias).astype(dtype) + products)
    assert np.array_equal(values(taeda.stack([a, a]) @ taeda.stack([b, b])), [products] * 2)
    assert np.array_equal(values(a[:, [0, 0]][:, 1:] @ b), products)


@pytest.mark.parametrize("right", ["rows", "columns"])
@pytest.mark.parametrize("k", [1, 7, 8, 9, 16, 17, 63, 65, 129, 513, 1025])
@pytest.mark.parametrize("m", [49, 54, 60, 66, 73])
def test_every_depth_of_a_packed_product(m, k, right):
    a, b = draw((m, k), "float32"), draw((k, 80) if right == "rows" else (80, k), "float32", 1)
    b = b if right == "rows" else b.t()
    close(a @ b, values(a).astype("float64") @ values(b).astype("float64"), "float32", k)


def test_zero_times_infinity_is_nan():
    assert (taeda.zeros(2, 3) @ taeda.full((3, 2), float("inf"))).isnan().all()


def test_threads_do_not_change_a_bit():
    a, b = draw((300, 333), "float32"), draw((333, 290), "float32", 1)
    batch = draw((9, 40, 50), "float32")
    before = taeda.get_num_threads()
    made = []
    for threads in (1, 2, 3):
        taeda.set_num_threads(threads)
        made.append((a @ b, a[0] @ b, a @ b[:, 0], batch @ batch.mT, a @ b[:, :90]))
    taeda.set_num_threads(before)
    for other in made[1:]:
        assert all(taeda.equal(x, y) for x, y in zip(made[0], other, strict=True))


# ---- the named products ----


def test_vectors_and_batches():
    x, y = draw((7,)), draw((7,), seed=1)
    close(taeda.dot(x, y), values(x) @ values(y))
    close(taeda.outer(x, y), np.outer(values(x), values(y)))
    close(taeda.inner(draw((2, 7)), y), values(draw((2, 7))) @ values(y))
    close(taeda.inner(taeda.tensor(2.0), taeda.tensor([1.0, 3.0])), [2.0, 6.0])
    close(taeda.mv(draw((3, 7)), x), values(draw((3, 7))) @ values(x))
    a, b = draw((4, 3, 5)), draw((4, 5, 2), seed=1)
    close(taeda.bmm(a, b), values(a) @ values(b))
    z = draw((7,), "complex128")
    close(taeda.vdot(z, z * 2), np.vdot(values(z), values(z) * 2))


ADDED = {
    "addmm": (lambda s, a, b, **k: taeda.addmm(s, a[0], b[0], **k), lambda a, b: a[0] @ b[0]),
    "addmv": (lambda s, a, b, **k: taeda.addmv(s, a[0], b[0, :, 0], **k), lambda a, b: a[0] @ b[0, :, 0]),
    "baddbmm": (taeda.baddbmm, lambda a, b: a @ b),
    "addbmm": (taeda.addbmm, lambda a, b: (a @ b).sum(0)),
    "addr": (lambda s, a, b, **k: taeda.addr(s, a[0, 0], b[0, 0], **k), lambda a,
        b: np.outer(a[0, 0], b[0, 0])),
}  # fmt: skip


@pytest.mark.parametrize("name", ADDED)
def test_products_that_are_added(name):
    call, product = ADDED[name]
    a, b = draw((2, 3, 4)), draw((2, 4, 5), seed=1)
    want = product(values(a), values(b))
    full, one = draw(want.shape, seed=2), draw(want.shape[-1:], seed=3)
    for self in (full, one, one[:1]):
        close(call(self, a, b), values(self) + want)
        close(call(self, a, b, beta=0.5, alpha=-2), 0.5 * values(self) - 2 * want)
    nan = taeda.full_like(full, float("nan"))
    close(call(nan, a, b, beta=0), want)
    close(call(full, a, b, alpha=0), values(full))
    assert taeda.equal(call(full, a, b, beta=2, alpha=3), written(name, full, a, b))


def written(name, full, a, b):
    args = {"addmm": (a[0], b[0]), "addmv": (a[0], b[0, :, 0]), "addr": (a[0, 0], b[0, 0])}.get(
        name, (a, b)
    )
    return getattr(full.clone(), name + "_")(*args, beta=2, alpha=3)


def test_linear():
    x, w, bias = draw((2, 3, 7), "float32"), draw((5, 7), "float32", 1), draw((5,), "float32", 2)
    linear = taeda._C._nn.linear
    close(linear(x, w, bias), values(x) @ values(w).T + values(bias), "float32", 7)
    close(linear(x, w), values(x) @ values(w).T, "float32", 7)
    close(linear(x[0, 0], w[0]), values(x)[0, 0] @ values(w)[0], "float32", 7)
    out = taeda.empty(2, 3, 5)
    assert linear(x, w, bias, out=out) is out
    close(out, values(x) @ values(w).T + values(bias), "float32", 7)


EQUATIONS = ["ij,jk->ik", "ij,jk", "ij->ji", "ij->", "ii->i", "ii", "i,j->ij", "bij,bjk->bik",
             "...ij,...jk->...ik",
             "ij,ij->j", "ij,kj,lk->il", " i j , j -> i "]  # fmt: skip


@pytest.mark.parametrize("equation", EQUATIONS)
def test_einsum(equation):
    terms = equation.replace(" ", "").split("->")[0].split(",")
    shapes = [(2, 3, 3) if "b" in t or "." in t else (3,) * len(t) for t in terms]
    arrays = [draw(s, seed=i) for i, s in enumerate(shapes)]
    close(
        taeda.einsum(equation, *arrays), np.einsum(equation.replace(" ", ""), *map(values, arrays))
    )


def test_einsum_of_one_equation_and_other_ranks():
    a, b = draw((2, 3)), draw((4, 3))
    for _ in range(2):
        close(taeda.einsum("...i,ji->j...", a, b), np.einsum("...i,ji->j...", values(a), values(b)))
        close(taeda.einsum("...i,ji->j...", a[0], b), values(b) @ values(a[0]))
        close(taeda.einsum("ij,Ab->ijAb", a, b), np.einsum("ij,Ab->ijAb", values(a), values(b)))
        close(taeda.einsum("ij,ab->aibj", a, b), np.einsum("ij,ab->aibj", values(a), values(b)))
        with pytest.raises(RuntimeError, match="number of subscripts"):
            taeda.einsum("ij,Ab->ijAb", a[0], b)
    one = taeda.einsum("ij->ij", a)
    assert one is not a and one.data_ptr() == a.data_ptr()


def test_tensordot_kron_and_chains():
    a, b = draw((3, 4, 5)), draw((4, 5, 2), seed=1)
    close(taeda.tensordot(a, b, 2), np.tensordot(values(a), values(b), 2))
    close(taeda.tensordot(a, b, ([1], [0])), np.tensordot(values(a), values(b), ([1], [0])))
    m, n = draw((2, 3)), draw((4, 2), seed=1)
    close(taeda.kron(m, n), np.kron(values(m), values(n)))
    chain = [draw((6, 2)), draw((2, 9), seed=1), draw((9, 1), seed=2), draw((1, 5), seed=3)]
    close(taeda.linalg.multi_dot(chain), np.linalg.multi_dot([values(m) for m in chain]))


# ---- refusals ----


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: taeda.ones(2, 3) @ taeda.ones(2, 3), r"2x3 and 2x3"),
        (lambda: taeda.mm(taeda.ones(2, 3), taeda.ones(3)), r"mat2 must be a matrix|2D"),
        (lambda: taeda.mm(taeda.ones(1, 2, 3), taeda.ones(3, 2)), r"must be a matrix|2D"),
        (lambda: taeda.bmm(taeda.ones(2, 3, 4), taeda.ones(3, 4, 5)), r"\[2, 4\]|batch"),
        (lambda: taeda.bmm(taeda.ones(3, 4), taeda.ones(4, 5)), r"3D"),
        (lambda: taeda.mv(taeda.ones(2, 3), taeda.ones(2)), r"size mismatch|\[2\]"),
        (lambda: taeda.dot(taeda.ones(2), taeda.ones(3)), r"2 .*3"),
        (lambda: taeda.dot(taeda.ones(2, 2), taeda.ones(4)), r"1D"),
        (lambda: taeda.tensor(1.0) @ taeda.ones(2), r"at least 1 dimension"),
        (lambda: taeda.ones(2, 2) @ taeda.ones(2, 2, dtype=taeda.float64), r"dtype|float32|Float"),
        (lambda: taeda.ones(2, 2, dtype=taeda.bool) @ taeda.ones(2, 2, dtype=taeda.bool), r"[bB]ool"),
        (lambda: taeda.ones(2, 3, 4) @ taeda.ones(3, 4, 5), r"2 .*3"),
        (lambda: taeda.addmm(taeda.ones(4, 4), taeda.ones(2, 3), taeda.ones(3, 2)), r"\[4, 4\]|4"),
        (lambda: taeda.einsum("ij,jk", taeda.ones(2, 3), taeda.ones(2, 3)), r"subscript|size"),
        (lambda: taeda.mm(taeda.ones(2, 2), taeda.ones(2, 2),
            out=taeda.ones(2, 2, dtype=taeda.float64)), r"Expected out"),
    ],
)  # fmt: skip
def test_refusals(call, message):
    with pytest.raises(RuntimeError, match=message):
        call()


def test_meta_tensors_have_a_shape_only():
    a, b = taeda.empty(3, 4, device="meta"), taeda.empty(2, 4, 5, device="meta")
    assert (a @ b).shape == (2, 3, 5)
    assert (a @ b).is_meta


@pytest.mark.parametrize("dtype", [taeda.uint8, taeda.int32])
def test_integers_stay_what_they_are(dtype):
    x = taeda.ones(2, 3, dtype=dtype)
    assert taeda.tensordot(x[:1], x, ([0], [0])).dtype is dtype
    assert taeda.bilinear(x, x, taeda.ones(4, 3, 3, dtype=dtype)).tolist() == [[9] * 4] * 2
    assert taeda.bilinear(x, x, taeda.ones(4, 3, 3, dtype=dtype)).dtype is dtype


def test_chains_take_matrices_one_by_one():
    a, b, c = taeda.ones(2, 3), taeda.ones(3, 4), taeda.ones(4, 2)
    assert taeda.chain_matmul(a, b, c).tolist() == [[12.0, 12.0], [12.0, 12.0]]
    assert taeda.chain_matmul(a).tolist() == a.tolist()
    out = taeda.empty(0)
    assert taeda.chain_matmul(a, b, out=out) is out and out.shape == (2, 4)
    with pytest.raises(TypeError, match="Tensors"):
        taeda.chain_matmul([a, b])
    with pytest.raises(RuntimeError, match="2D"):
        taeda.chain_matmul(a, taeda.ones(3))
    with pytest.raises(RuntimeError, match="one or more matrices"):
        taeda.chain_matmul()


# ---- bfloat16: sums in float32, of one rounding at the end ----

NARROW = [(1, 1, 1), (3, 5, 7), (12, 32, 64), (13, 33, 65), (1, 100, 300), (100, 1, 301),
    (150, 70, 1030), (7, 9, 5000), (290, 65, 33), (2, 3, 0)]  # fmt: skip


def narrow(rows, cols, layout, seed):
    """A bfloat16 matrix, stored by rows, by columns, or with gaps."""
    if layout == "columns":
        return draw((cols, rows), "bfloat16", seed).t()
    if layout == "gaps":
        return draw((rows, 2 * cols), "bfloat16", seed)[:, ::2]
    return draw((rows, cols), "bfloat16", seed)


@pytest.mark.parametrize("left", ["rows", "columns", "gaps"])
@pytest.mark.parametrize("right", ["rows", "columns", "gaps"])
@pytest.mark.parametrize(("m", "n", "k"), NARROW)
def test_a_product_of_bfloat16_is_rounded_once_from_float32_sums(m, n, k, left, right):
    a, b = narrow(m, k, left, 0), narrow(k, n, right, 1)
    self, bias = draw((m, n), "bfloat16", 2), draw((n,), "bfloat16", 3)
    x, y, s, t = (values(z).astype(np.float64) for z in (a, b, self, bias))
    sums = 4 * 2.0**-24 * np.sqrt(max(k, 1)) * (np.abs(x) @ np.abs(y) + 4)
    for got, want in (
        (a @ b, x @ y),
        (taeda.addmm(self, a, b, beta=0.5, alpha=-2), 0.5 * s - 2 * (x @ y)),
        (taeda.nn.functional.linear(a, b.t(), bias), x @ y + t),
        (taeda.stack([a, a, a]) @ b, np.stack([x @ y] * 3)),
        (taeda.stack([a, a]) @ taeda.stack([b, b]), np.stack([x @ y] * 2)),
    ):
        assert got.dtype == taeda.bfloat16
        assert (np.abs(values(got) - want) <= 2.0**-8 * np.abs(want) + 3 * sums).all()


@pytest.mark.parametrize(("m", "n", "k"), [(290, 65, 1030), (8, 700, 520), (700, 1, 520)])
@pytest.mark.parametrize("right", ["rows", "columns"])
def test_a_product_of_bfloat16_has_the_same_bits_on_any_number_of_threads(m, n, k, right):
    a, b = narrow(m, k, "rows", 0), narrow(k, n, right, 1)
    before = taeda.get_num_threads()
    try:
        found = []
        for threads in (1, 2, 3, 4):
            taeda.set_num_threads(threads)
            found.append(values((a @ b).float()).tobytes())
    finally:
        taeda.set_num_threads(before)
    assert len(set(found)) == 1


def test_a_product_of_bfloat16_keeps_nan_and_infinity_apart():
    a = taeda.ones(5, 35, dtype=taeda.bfloat16)
    a[1, 34], a[3, 0] = float("nan"), float("inf")
    for b in (
        taeda.ones(35, 40, dtype=taeda.bfloat16),
        taeda.ones(40, 35, dtype=taeda.bfloat16).t(),
    ):
        got = values((a @ b).float())
        assert np.isnan(got[1]).all() and np.isposinf(got[3]).all()
        assert (got[[0, 2, 4]] == 35).all()


@pytest.mark.parametrize("rows", [None, 1, 3, 48])
@pytest.mark.parametrize("bias", [False, True])
def test_half_in_pieces_has_the_bits_of_float32_rounded_once(rows, bias):
    generator = taeda.Generator().manual_seed(0)
    weight = taeda.randn(517, 1024, generator=generator).half()  # the last piece is a narrow one
    x = taeda.randn(*(() if rows is None else (rows,)), 1024, generator=generator).half()
    shift = taeda.randn(517, generator=generator).half() if bias else None
    wide = taeda._C._nn.linear(x.float(), weight.float(), None if shift is None else shift.float())
    assert taeda.equal(taeda._C._nn.linear(x, weight, shift), wide.half())
    if not bias:
        assert taeda.equal(x @ weight.t(), (x.float() @ weight.float().t()).half())
        if rows is None:
            assert taeda.equal(weight @ x, (weight.float() @ x.float()).half())


# ---- float16: a large matrix times a vector is summed in float32 as it is read ----


@pytest.mark.parametrize(("m", "k"), [(513, 512), (301, 1031), (37, 8001), (2, 200001)])
def test_a_float16_matrix_times_a_vector(m, k):
    a, x = draw((m, k), "float16", 0), draw((k,), "float16", 1)
    wide, vector = (values(t).astype(np.float64) for t in (a, x))
    want = wide @ vector
    allowed = 2.0**-11 * 1.01 * np.abs(want) + 1e-6 * (np.abs(wide) @ np.abs(vector))
    before, found = taeda.get_num_threads(), []
    try:
        for threads in (1, 2, 3):
            taeda.set_num_threads(threads)
            found.append((a @ x, taeda.nn.functional.linear(x, a), x[None] @ a.t()))
    finally:
        taeda.set_num_threads(before)
    for results in found:
        for got, first in zip(results, found[0], strict=True):
            assert got.dtype == taeda.float16 and taeda.equal(got, first)
            assert (np.abs(values(got).reshape(-1) - want) <= allowed).all()
    a[1, 0] = float("nan")
    assert np.isnan(values(a @ x)).nonzero()[0].tolist() == [1]


# ---- 16 bits times one vector ----
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("by_column", [False, True])
@pytest.mark.parametrize(("n", "k"), [(1, 1), (3, 5), (64, 17), (9, 4100), (2051, 7), (70, 33)])
def test_a_short_matrix_times_a_vector(dtype, by_column, n, k):
    matrix = draw((k, n), dtype).t() if by_column else draw((n, k), dtype)
    vector, bias = draw((k,), dtype, seed=1), draw((n,), dtype, seed=2)
    wide = values(matrix).astype("float64")
    want = wide @ values(vector).astype("float64")
    slack = TOLERANCE[dtype] * (np.abs(wide) @ np.abs(values(vector).astype("float64")) + 1)
    assert (np.abs(values(matrix @ vector) - want) <= slack).all()
    assert (np.abs(values(vector @ matrix.t()) - want) <= slack).all()
    row = taeda.nn.functional.linear(vector.reshape(1, k), matrix, bias)
    assert row.shape == (1, n)
    assert (np.abs(values(row)[0] - want - values(bias)) <= slack + TOLERANCE[dtype] * 4).all()


class _Knows:
    def __matmul__(self, other):
        return "left"

    def __rmatmul__(self, other):
        return "right"


def test_a_number_is_no_matrix():
    x = taeda.eye(2)
    for number in (3, 2.5, True, 1j, np.float64(2)):
        for use in (lambda n=number: x @ n, lambda n=number: n @ x):
            with pytest.raises(TypeError, match="@"):
                use()
        assert x.__matmul__(number) is NotImplemented
    assert x @ _Knows() == "right" and _Knows() @ x == "left"
    with pytest.raises(RuntimeError, match="at least 1 dimension"):
        x @ taeda.tensor(3.0)
