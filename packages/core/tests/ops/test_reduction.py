"""Reductions against numpy: values, dtypes, layouts, empty inputs, ties and NaN, threads, refusals."""

from __future__ import annotations

import itertools
import math
import os
import subprocess
import sys

import numpy as np
import pytest
from arrays import values

import taeda

RTOL = {"float16": 2e-3, "bfloat16": 1.6e-2, "float32": 1e-5, "float64": 1e-12}
FLOATS = list(RTOL)
INTEGERS = ["uint8", "int8", "int16", "int32", "int64"]


def make(array, dtype):
    return taeda.from_numpy(np.ascontiguousarray(array)).to(getattr(taeda, dtype))


def draw(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    if dtype in INTEGERS:
        return make(rng.integers(0, 5, shape), dtype)
    return make(rng.standard_normal(shape), dtype)


LAYOUTS = {
    "contiguous": lambda t: t,
    "transposed": lambda t: t.transpose(0, -1),
    "strided": lambda t: t[..., ::2],
    "shifted": lambda t: t[1:],
    "expanded": lambda t: t.unsqueeze(1).expand(t.shape[0], 3, *t.shape[1:]),
}
SHAPES = [(7,), (3, 5), (4, 3, 6), (2, 3, 4, 5), (70, 300), (300, 70), (3, 5000), (5000, 3)]


def dim_sets(ndim):
    return [s for k in range(1, ndim + 1) for s in itertools.combinations(range(ndim), k)]


SUMS = {
    "sum": np.sum,
    "mean": np.mean,
    "amax": np.max,
    "amin": np.min,
    "var": lambda a, **k: np.var(a, ddof=1, **k),
    "std": lambda a, **k: np.std(a, ddof=1, **k),
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("name", SUMS)
def test_every_set_of_dims(name, layout):
    for shape in SHAPES:
        x = layout(draw(shape, "float64"))
        a = values(x)
        for dims in dim_sets(x.dim()):
            if math.prod(a.shape[d] for d in dims) == 1:
                continue
            for keepdim in (False, True):
                got = getattr(taeda, name)(x, dims, keepdim=keepdim)
                want = SUMS[name](a, axis=dims, keepdims=keepdim)
                assert tuple(got.shape) == want.shape
                np.testing.assert_allclose(values(got), want, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", SUMS)
def test_every_floating_dtype(name, dtype):
    x = draw((33, 130), dtype)
    for dim in (0, 1):
        got = getattr(taeda, name)(x, dim)
        assert got.dtype == x.dtype
        want = SUMS[name](values(x), axis=dim)
        np.testing.assert_allclose(values(got), want, rtol=RTOL[dtype], atol=RTOL[dtype])


@pytest.mark.parametrize("dtype", [*INTEGERS, "bool"])
def test_integers_and_bools_sum_to_int64(dtype):
    x = draw((6, 50), "int64").to(getattr(taeda, dtype))
    for name, reference in (("sum", np.sum), ("prod", np.prod)):
        got = getattr(taeda, name)(x, 1)
        assert got.dtype == taeda.int64
        assert got.tolist() == reference(values(x).astype(np.int64), axis=1).tolist()


@pytest.mark.parametrize("dtype", ["uint16", "uint32", "uint64"])
def test_integers_without_a_sign_use_their_whole_range(dtype):
    most = np.iinfo(dtype).max
    array = np.random.default_rng(5).integers(0, most, (37, 41), dtype, endpoint=True)
    array[3, 5], array[7, 9] = most, 0
    x, words = taeda.from_numpy(array), array.astype(np.uint64)
    for dim in (0, 1):
        for name in ("argmax", "argmin"):
            assert getattr(x, name)(dim).tolist() == getattr(array, name)(dim).tolist()
        for name, wanted in (("amax", array.max(dim)), ("amin", array.min(dim))):
            found = getattr(x, name)(dim)
            assert str(found.dtype) == f"taeda.{dtype}" and found.tolist() == wanted.tolist()
        for name in ("sum", "prod"):  # modulo 2^64, as int64
            wanted = getattr(words, name)(dim).astype(np.int64)
            assert getattr(x, name)(dim).tolist() == wanted.tolist()


def test_integers_wrap_around_as_numpy():
    x = taeda.full((3,), 2**62, dtype=taeda.int64)
    assert x.sum().item() == np.full(3, 2**62).sum()


def test_dtype_converts_before_adding():
    x = taeda.tensor([0.5, 0.5, 1.5])
    assert x.sum(dtype=taeda.int32).item() == 1
    ints = taeda.tensor([100, 100, 100], dtype=taeda.int8)
    assert ints.sum(dtype=taeda.int8).item() == 44
    assert ints.sum(dtype=taeda.float32).item() == 300
    assert taeda.tensor([1, 2]).mean(dtype=taeda.float64).item() == 1.5


def test_complex_sums_and_means():
    a = np.random.default_rng(0).standard_normal((5, 6, 2)) @ np.array([1, 1j])
    x = taeda.from_numpy(a)
    np.testing.assert_allclose(values(x.sum(0)), a.sum(0))
    np.testing.assert_allclose(values(x.mean()), a.mean())
    np.testing.assert_allclose(values(x.prod(1)), a.prod(1))
    assert taeda.tensor(3 + 4j).sum(0).item() == 3 + 4j
    var, mean = taeda.var_mean(x, 1)
    np.testing.assert_allclose(values(var), np.var(a, axis=1, ddof=1))
    np.testing.assert_allclose(values(mean), a.mean(1))
    assert var.dtype == taeda.float64
    np.testing.assert_allclose(values(x.std(0)), np.std(a, axis=0, ddof=1))


def test_float32_sums_lose_no_more_than_pairwise_ones():
    # one by one it would be 88,000
    assert abs(taeda.full((10_000_000,), 0.1).sum().item() - 1e6) < 1
    column = taeda.full((1_000_000, 2), 0.1).sum(0)
    np.testing.assert_allclose(values(column), 1e5, rtol=1e-6)


def test_halves_round_once():
    assert taeda.full((4096,), 1.0, dtype=taeda.bfloat16).sum().item() == 4096
    assert taeda.full((3000,), 1.0, dtype=taeda.float16).sum(0).item() == 3000


def test_a_variance_far_from_zero_keeps_its_digits():
    a = np.random.default_rng(0).standard_normal(10_000) + 1e4
    x = make(a, "float32")
    np.testing.assert_allclose(x.var().item(), values(x).var(ddof=1), rtol=1e-5)
    np.testing.assert_allclose(x.view(-1, 2).var(0).mean().item(), 1, rtol=0.1)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.sum(),
        lambda x: x.sum(0),
        lambda x: x.sum(1),
        lambda x: x.var(1),
        lambda x: x.prod(0),
        lambda x: x.norm(),
        lambda x: x.mean((0, 1)),
        lambda x: x.cumsum(1),
    ],
)
def test_same_bits_for_any_number_of_threads(call):
    before = taeda.get_num_threads()
    try:
        for shape in ((3, 400_000), (300_000, 4), (1000, 1000)):
            x = draw(shape, "float32")
            seen = set()
            for threads in (1, 2, 3, 4):
                taeda.set_num_threads(threads)
                seen.add(call(x).numpy().tobytes())
            assert len(seen) == 1
    finally:
        taeda.set_num_threads(before)


def test_same_bits_on_every_instruction_set():
    program = (
        "import taeda, hashlib; taeda.manual_seed(0); x = taeda.randn(777, 130);"
        "print(hashlib.sha1(b''.join(t.numpy().tobytes() for t in"
        " (x.sum(), x.sum(0), x.sum(1), x.amax(1), x.norm(), x.nansum(1)))).hexdigest())"
    )
    seen = set()
    for isa in ("generic", "avx2", "avx512"):
        environment = {**os.environ, "TAEDA_ISA": isa}
        done = subprocess.run(
            [sys.executable, "-c", program],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        seen.add(done.stdout)
    assert len(seen) == 1


# ---- extrema ----


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS])
@pytest.mark.parametrize("name", ["max", "min"])
def test_extrema_and_the_first_index_of_them(name, dtype):
    for shape in ((50,), (7, 300), (300, 7), (40, 13, 5)):
        x = draw(shape, dtype, seed=1)
        a = values(x)
        for dim in range(x.dim()):
            got = getattr(x, name)(dim)
            index = (np.argmax if name == "max" else np.argmin)(a, axis=dim)
            assert got.indices.tolist() == index.tolist()
            assert values(got.values).tolist() == getattr(a, name)(axis=dim).tolist()
            assert getattr(x, "arg" + name)(dim).tolist() == index.tolist()
        assert getattr(x, name)().item() == getattr(a, name)()
        assert getattr(x, "arg" + name)().item() == (np.argmax if name == "max" else np.argmin)(a)


def test_the_flat_index_of_a_transposed_tensor():
    a = np.random.default_rng(0).standard_normal((30, 40))
    x = taeda.from_numpy(a).t()
    assert x.argmax().item() == a.T.argmax()
    assert x.argmin(keepdim=True).shape == (1, 1)


@pytest.mark.parametrize("n", [3, 11, 40, 200])
def test_nan_wins_and_keeps_its_first_place(n):
    for shape, dim in (((n,), 0), ((5, n), 1), ((n, 5), 0), ((n, 5), 1)):
        x = draw(shape, "float32")
        x[..., -1] = math.nan
        x[..., x.shape[-1] // 2] = math.nan
        a = values(x)
        for name in ("max", "min"):
            got = getattr(x, name)(dim)
            assert (
                got.indices.tolist()
                == (np.argmax if name == "max" else np.argmin)(a, axis=dim).tolist()
            )
            np.testing.assert_array_equal(values(got.values), getattr(a, name)(axis=dim))
            assert math.isnan(getattr(x, name)().item())
    assert math.isnan(x.amax().item())


def test_aminmax_and_names_of_results():
    x = taeda.tensor([[3.0, 1.0], [2.0, 5.0]])
    both = taeda.aminmax(x, dim=0)
    assert both.min.tolist() == [2.0, 1.0]
    assert both.max.tolist() == [3.0, 5.0]
    assert taeda.aminmax(x).min.item() == 1
    assert type(x.max(0)).__name__ == "max"
    assert taeda.max(x, x.t()).tolist() == [[3.0, 2.0], [2.0, 5.0]]


# ---- truth and counts ----


def test_any_all_and_counts():
    x = taeda.tensor([[0.0, math.nan, -0.0], [0.0, 0.0, 0.0]])
    assert x.any(1).tolist() == [True, False]
    assert x.all(0).tolist() == [False, False, False]
    assert x.count_nonzero().item() == 1
    assert taeda.count_nonzero(x, dim=[0, 1]).item() == 1
    assert x.any(dim=()).tolist() == x.bool().tolist()
    assert taeda.ones(100_000, dtype=taeda.bool).all().item()
    bytes_ = taeda.tensor([2, 0], dtype=taeda.uint8)
    assert bytes_.any().dtype == taeda.uint8
    assert bytes_.any().item() == 1
    assert taeda.tensor([0, 1j]).any().dtype == taeda.bool


# ---- nothing to reduce ----

EMPTY = {
    "sum": 0,
    "prod": 1,
    "nansum": 0,
    "mean": math.nan,
    "var": math.nan,
    "std": math.nan,
    "median": math.nan,
    "norm": 0,
    "any": False,
    "all": True,
    "count_nonzero": 0,
}


@pytest.mark.parametrize("name", EMPTY)
def test_reductions_of_nothing(name):
    got = getattr(taeda, name)(taeda.empty(0)).item()
    assert got == EMPTY[name] or (math.isnan(EMPTY[name]) and math.isnan(got))


def test_empty_dimensions():
    x = taeda.empty(0, 3)
    assert x.sum(0).tolist() == [0, 0, 0]
    assert x.prod(0).tolist() == [1, 1, 1]
    assert x.sum(1).shape == (0,)
    assert x.logsumexp(0).tolist() == [-math.inf] * 3
    assert x.max(1).values.shape == (0,)
    assert x.any(0).tolist() == [False] * 3


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: taeda.empty(0).max(), RuntimeError, "numel"),
        (lambda: taeda.empty(0).amax(), RuntimeError, "numel"),
        (lambda: taeda.empty(0, 3).max(0), IndexError, "dim 0"),
        (lambda: taeda.empty(0, 3).amin(0), IndexError, "dim 0"),
        (lambda: taeda.empty(0).argmax(), IndexError, "dim"),
        (lambda: taeda.empty(0, 3).median(0), IndexError, "dim 0"),
        (lambda: taeda.empty(0).aminmax(), RuntimeError, "empty"),
        (lambda: taeda.linalg.vector_norm(taeda.empty(0), math.inf), RuntimeError, "identity"),
        (lambda: taeda.ones(2).sum(3), IndexError, r"\[-1, 0\].*3"),
        (lambda: taeda.ones(2, 2).sum((0, -2)), RuntimeError, "multiple"),
        (lambda: taeda.tensor([1, 2]).mean(), RuntimeError, "Long"),
        (lambda: taeda.tensor([1, 2]).var(), RuntimeError, "int64"),
        (lambda: taeda.tensor([1, 2]).norm(), RuntimeError, "Long"),
        (lambda: taeda.tensor([1j]).max(), NotImplementedError, "complex"),
        (lambda: taeda.tensor([1j]).max(0), RuntimeError, "complex"),
        (lambda: taeda.tensor([1j]).nansum(), RuntimeError, "complex"),
        (lambda: taeda.tensor([True]).argmax(), RuntimeError, "bool"),
        (lambda: taeda.tensor([1, 2]).kthvalue(3), RuntimeError, "3.*2"),
        (lambda: taeda.tensor([1]).nanmean(), RuntimeError, "int64"),
        (lambda: taeda.tensor([1.0]).quantile(1.5), RuntimeError, "1.5"),
        (lambda: taeda.tensor([1.0]).quantile(0.5, interpolation="no"), RuntimeError, "no"),
        (lambda: taeda.tensor([1]).quantile(0.5), RuntimeError, "int64"),
        (lambda: taeda.tensor([1.0]).norm("x"), RuntimeError, "x"),
    ],
)
def test_refusals(call, error, text):
    with pytest.raises(error, match=text):
        call()


# ---- norms ----


@pytest.mark.parametrize("p", [0, 0.5, 1, 2, 3, -1, math.inf, -math.inf])
def test_vector_norms(p):
    for dtype in ("float32", "float64", "complex128"):
        a = np.random.default_rng(0).standard_normal((6, 40))
        a = a + 1j * a[::-1] if dtype == "complex128" else a.astype(dtype)
        x = taeda.from_numpy(np.ascontiguousarray(a))
        got = taeda.linalg.vector_norm(x, p, 1)
        want = [np.linalg.norm(row, p) for row in a]
        np.testing.assert_allclose(values(got), want, rtol=2e-5)
        assert got.dtype == (taeda.float32 if dtype == "float32" else taeda.float64)
    assert taeda.tensor([3.0, 4.0]).norm().item() == 5
    assert taeda.dist(taeda.tensor([1.0, 5.0]), taeda.tensor([1.0, 2.0]), 1).item() == 3


def test_logsumexp_where_exponentials_would_overflow():
    x = taeda.tensor([[1000.0, 1000.0], [-math.inf, -math.inf], [math.inf, 0.0], [math.nan, 0.0]])
    got = x.logsumexp(1).tolist()
    assert got[0] == pytest.approx(1000 + math.log(2))
    assert got[1:3] == [-math.inf, math.inf]
    assert math.isnan(got[3])
    a = np.random.default_rng(0).standard_normal((4, 5, 6))
    want = np.log(np.exp(a).sum((0, 2)))
    np.testing.assert_allclose(values(taeda.from_numpy(a).logsumexp((0, 2))), want)
    assert taeda.tensor([1, 2]).logsumexp(0).dtype == taeda.float32


# ---- variance ----


def test_corrections():
    a = np.random.default_rng(0).standard_normal((5, 8))
    x = taeda.from_numpy(a)
    for correction in (0, 1, 2, 1.5):
        want = ((a - a.mean(1, keepdims=True)) ** 2).sum(1) / (8 - correction)
        np.testing.assert_allclose(values(x.var(1, correction=correction)), want)
        std, mean = taeda.std_mean(x, 1, correction=correction)
        np.testing.assert_allclose(values(std), np.sqrt(want))
        np.testing.assert_allclose(values(mean), a.mean(1))
    assert x.std(False).item() == pytest.approx(a.std())
    assert x.var(0, unbiased=False, keepdim=True).shape == (1, 8)
    assert math.isnan(taeda.ones(1).var().item())
    assert taeda.tensor([1.0, 3.0]).var(correction=2).item() == math.inf


# ---- ranks ----


def test_median_takes_the_lower_middle():
    assert taeda.tensor([4.0, 1.0, 3.0, 2.0]).median().item() == 2
    got = taeda.tensor([[3, 1, 2, 4], [9, 9, 9, 0]]).median(1)
    assert got.values.tolist() == [2, 9]
    assert got.indices.tolist()[0] == 2
    nan = taeda.tensor([1.0, math.nan, 3.0, math.nan, 2.0])
    assert math.isnan(nan.median().item())
    assert nan.median(0).indices.item() == 1
    assert nan.nanmedian().item() == 2
    assert math.isnan(taeda.tensor([math.nan]).nanmedian().item())


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "int16"])
def test_kth_values(dtype):
    a = np.random.default_rng(0).permutation(200).reshape(4, 50)
    x = make(a, dtype)
    for k in (1, 7, 50):
        got = x.kthvalue(k, 1)
        assert values(got.values).tolist() == np.sort(a, axis=1)[:, k - 1].tolist()
        assert x.gather(1, got.indices.unsqueeze(1)).squeeze(1).tolist() == got.values.tolist()


def test_modes():
    got = taeda.tensor([[3, 1, 1, 3], [5, 5, 5, 2]]).mode(1)
    assert got.values.tolist() == [1, 5]
    assert got.indices.tolist() == [2, 2]
    assert taeda.tensor(7).mode().values.item() == 7


@pytest.mark.parametrize("interpolation", ["linear", "lower", "higher", "midpoint", "nearest"])
def test_quantiles(interpolation):
    a = np.random.default_rng(0).standard_normal((5, 9))
    q = [0.0, 0.2, 0.5, 0.77, 1.0]
    x = taeda.from_numpy(a)
    for dim in (None, 0, 1):
        got = taeda.quantile(
            x, taeda.tensor(q, dtype=taeda.float64), dim, interpolation=interpolation
        )
        np.testing.assert_allclose(values(got), np.quantile(a, q, axis=dim, method=interpolation))
    a[1, 2] = np.nan
    x = taeda.from_numpy(a)
    assert math.isnan(x.quantile(0.5).item())
    want = np.nanquantile(a, 0.3, axis=1, method=interpolation)
    np.testing.assert_allclose(
        values(taeda.nanquantile(x, 0.3, 1, interpolation=interpolation)), want
    )


def test_nan_is_left_out():
    a = np.random.default_rng(0).standard_normal((6, 50))
    a[a > 1] = np.nan
    x = taeda.from_numpy(a)
    np.testing.assert_allclose(values(x.nansum(1)), np.nansum(a, axis=1))
    np.testing.assert_allclose(values(x.nanmean(0)), np.nanmean(a, axis=0))


# ---- meta ----


@pytest.mark.parametrize("name", ["sum", "amax", "var", "logsumexp", "argmax", "median", "any"])
def test_meta_tensors_have_the_shape_and_dtype(name):
    x = taeda.ones(3, 4)
    real, abstract = (getattr(t, name)(1) for t in (x, x.to("meta")))
    if isinstance(real, tuple):
        real, abstract = real[0], abstract[0]
    assert abstract.shape == real.shape
    assert abstract.dtype == real.dtype
    assert abstract.is_meta


# ---- trace, sum_to_size ----


def test_trace():
    x = draw((3, 5), "float64")
    assert x.trace().item() == pytest.approx(np.trace(values(x)))
    assert x.t()[::2].trace().item() == pytest.approx(np.trace(values(x).T[::2]))
    assert taeda.tensor([[1, 2], [3, 4]], dtype=taeda.int32).trace().dtype is taeda.int64
    assert taeda.ones(0, 3).trace().item() == 0
    with pytest.raises(RuntimeError, match="expected a matrix, but got tensor with dim 1"):
        taeda.trace(taeda.ones(3))


def test_sum_to_size():
    x = draw((2, 3, 4), "float64")
    assert x.sum_to_size(2, 3, 4) is x
    np.testing.assert_allclose(values(x.sum_to_size(3, 1)), values(x).sum((0, 2))[:, None])
    np.testing.assert_allclose(
        values(x.sum_to_size((1, 1, 4))), values(x).sum((0, 1), keepdims=True)
    )
    with pytest.raises(RuntimeError, match=r"\[2\] is not expandable to size \[2, 3, 4\]"):
        x.sum_to_size(2)


def test_no_dims_are_all_dims_for_logsumexp():
    x = taeda.tensor([[0.0, 1.0], [2.0, 3.0]], dtype=taeda.float64)
    expected = np.log(np.exp(x.numpy()).sum())
    np.testing.assert_allclose(taeda.logsumexp(x, ()).item(), expected, rtol=1e-14)
    assert taeda.logsumexp(x, (), keepdim=True).shape == (1, 1)


def test_refused_dtypes():
    with pytest.raises(RuntimeError, match=r"complex dtype, got taeda\.int64"):
        taeda.nanmean(taeda.ones(2), dtype=taeda.int64)
    with pytest.raises(NotImplementedError, match="median is not implemented for 'ComplexFloat'"):
        taeda.ones(2, dtype=taeda.complex64).median()
    with pytest.raises(IndexError, match="dim 0 was given, but the tensor has no dimensions"):
        taeda.unique(taeda.tensor(3), dim=0)


@pytest.mark.parametrize("value", [0.1, 1 / 3, 1.7])
def test_long_sums_of_floats_keep_their_digits(value):
    x = taeda.full((3_000_001,), value)
    exact = 3_000_001 * float(np.float32(value))
    assert abs(x.sum().item() / exact - 1) < 2.5e-7
    assert abs(x.mean().item() / float(np.float32(value)) - 1) < 2.5e-7


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("special", [None, math.nan, -math.nan, math.inf, -math.inf, -0.0])
def test_extrema_of_sixteen_bits_are_those_of_float32(dtype, special):
    for shape in [(1, 1), (3, 5), (40, 33), (9, 1000), (1000, 9)]:
        t = draw(shape, dtype)
        if special is not None:
            t[-1, shape[1] // 2] = special
        for x in (t, t.t(), t[:, ::2], -t.abs()):
            for dim in (0, 1, (0, 1)):
                for name in ("amax", "amin"):
                    ours, wide = (getattr(taeda, name)(v, dim) for v in (x, x.float()))
                    assert ours.dtype == x.dtype
                    assert np.array_equal(ours.float().numpy(), wide.numpy(), equal_nan=True)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_sums_and_norms_of_sixteen_bits_along_rows_and_columns(dtype):
    for shape in [(3, 5), (7, 40), (13, 600), (600, 13), (1000, 1030)]:
        x = draw(shape, dtype)
        exact = x.double().numpy()
        for dim in (0, 1):
            found = taeda.sum(x, dim, dtype=taeda.float32).numpy()
            bound = 1e-6 * np.abs(exact).sum(dim) + 1e-12
            assert (np.abs(found - exact.sum(dim)) <= bound).all()
            norm = taeda.linalg.vector_norm(x, dim=dim).double().numpy()
            np.testing.assert_allclose(norm, np.linalg.norm(exact, axis=dim), RTOL[dtype])


def test_norms_of_columns_do_not_overflow():
    x = taeda.full((20, 9), 1e30, dtype=taeda.bfloat16)
    assert taeda.isfinite(taeda.linalg.vector_norm(x, dim=0)).all()


@pytest.mark.parametrize("dtype", ["int8", "uint8", "bool"])
@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 255 * 64, 255 * 64 + 1, 3 * 255 * 64 + 70])
def test_truths_of_bytes(dtype, n):
    """Counts in bytes go on where one of them would overflow."""
    x = taeda.ones(n, dtype=getattr(taeda, dtype))
    x[::7] = 0
    zeros = len(range(0, n, 7))
    assert x.count_nonzero().item() == n - zeros
    assert bool(x.any()) == (n > 1)
    assert bool(x.all()) == (n == 0)
    pairs = x[: n // 2 * 2].view(2, -1)
    wide = pairs.to(taeda.int64)
    for dim in (0, 1):
        assert pairs.count_nonzero(dim).tolist() == (wide != 0).sum(dim).tolist()
        assert pairs.t().any(dim).tolist() == wide.t().bool().any(dim).tolist()
        assert pairs.all(dim).tolist() == wide.bool().all(dim).tolist()
    assert x[::3].count_nonzero().item() == sum(map(bool, x[::3].tolist()))
