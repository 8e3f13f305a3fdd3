"""Order, uniqueness, places and counts against numpy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from arrays import values

import taeda
from taeda._numpy import sorting as _sorting

FLOATS = ["float16", "bfloat16", "float32", "float64"]
INTEGERS = ["bool", "uint8", "int8", "int16", "int32", "int64"]
SHAPES = [(1,), (13,), (500,), (70_000,), (5, 100), (100, 5), (3, 40, 4)]


def draw(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    array = rng.standard_normal(shape).round(1) if dtype in FLOATS else rng.integers(0, 100, shape)
    if dtype in ("int8", "int16", "int32", "int64"):
        array = array - 50
    return taeda.from_numpy(np.asarray(array)).to(getattr(taeda, dtype))


# ---- sorting ----


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_sort_is_stable_either_way(shape, dtype):
    x = draw(shape, dtype)
    a = values(x)
    for dim in range(len(shape)):
        for descending in (False, True):
            got = x.sort(dim, descending)
            order = np.argsort(-a if descending else a, axis=dim, kind="stable")
            assert got.indices.tolist() == order.tolist()
            assert values(got.values).tolist() == np.take_along_axis(a, order, dim).tolist()
            assert got.values.dtype == x.dtype


def test_large_integers_sort_by_all_their_bits():
    a = np.random.default_rng(0).integers(-(2**63), 2**63 - 1, 5000)
    assert taeda.from_numpy(a).sort()[0].tolist() == np.sort(a).tolist()
    a = np.random.default_rng(0).integers(0, 2**64 - 1, 5000, dtype=np.uint64)
    assert taeda.from_numpy(a).sort()[0].tolist() == np.sort(a).tolist()


@pytest.mark.parametrize("n", [6, 200, 70_000])
def test_nan_is_the_largest_and_zeros_are_equal(n):
    x = taeda.zeros(n)
    x[1], x[3], x[4] = math.nan, -math.nan, -0.0
    x[0], x[2] = math.inf, -math.inf
    up, down = x.sort(), x.sort(descending=True)
    assert up.indices[-2:].tolist() == [1, 3]
    assert down.indices[:3].tolist() == [1, 3, 0]
    assert up.indices[:3].tolist() == [2, 4, 5]
    assert math.copysign(1, up.values[1].item()) == -1


def test_sort_of_strided_and_empty_tensors():
    x = draw((20, 30), "float32")
    assert x.t()[:, ::2].sort(0)[0].tolist() == np.sort(values(x.t()[:, ::2]), axis=0).tolist()
    assert taeda.empty(0, 3).sort(0)[0].shape == (0, 3)
    assert taeda.tensor(5.0).sort().indices.item() == 0
    assert x.sort(stable=True)[0].tolist() == x.sort()[0].tolist()
    assert x.argsort(0).tolist() == x.sort(0)[1].tolist()
    assert taeda.msort(x).tolist() == x.sort(0)[0].tolist()
    assert taeda.ones(2, 3, device="meta").sort().indices.shape == (2, 3)


@pytest.mark.parametrize("dtype", [*FLOATS, "uint8", "int32", "int64"])
def test_topk(dtype):
    for shape, dim in (((50,), 0), ((4, 3000), 1), ((3000, 4), 0), ((2, 7, 5), 1)):
        x = draw(shape, dtype)
        a = values(x)
        for k in (0, 1, 3, shape[dim]):
            for largest in (True, False):
                got = x.topk(k, dim, largest)
                order = np.argsort(-a if largest else a, axis=dim, kind="stable")
                want = np.take(order, range(k), axis=dim)
                assert got.indices.tolist() == want.tolist()
                assert values(got.values).tolist() == np.take_along_axis(a, want, dim).tolist()


def test_topk_takes_nan_for_the_largest():
    x = taeda.tensor([1.0, math.nan, 5.0])
    assert x.topk(2).indices.tolist() == [1, 2]
    assert x.topk(2, largest=False).indices.tolist() == [0, 2]


# ---- uniqueness ----


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int64", "bool"])
def test_unique(dtype):
    x = draw((30, 4), dtype)
    got = taeda.unique(x, return_inverse=True, return_counts=True)
    want = np.unique(values(x), return_inverse=True, return_counts=True)
    assert values(got[0]).tolist() == want[0].tolist()
    assert got[1].tolist() == want[1].reshape(30, 4).tolist()
    assert got[2].tolist() == want[2].tolist()
    assert x.unique().tolist() == got[0].tolist()
    assert len(taeda.unique(x, return_counts=True)) == 2


def test_unique_slices():
    a = np.random.default_rng(0).integers(0, 2, (20, 3))
    for dim in (0, 1):
        got = taeda.unique(taeda.from_numpy(a), dim=dim, return_inverse=True, return_counts=True)
        want = np.unique(a, axis=dim, return_inverse=True, return_counts=True)
        assert got[0].tolist() == want[0].tolist()
        assert got[1].tolist() == want[1].reshape(-1).tolist()
        assert got[2].tolist() == want[2].tolist()


def wide(kind, dtype):
    """Many columns: drawn, or such that each row differs from the next in a column of its own."""
    rng = np.random.default_rng(3)
    rows = np.tril(np.ones((40, 90))) if kind == "steps" else rng.integers(0, 2, (40, 90))
    if kind == "alike":
        rows[:, :60] = rows[0, :60]
    rows = rows[rng.integers(0, 40, 50)]
    return taeda.from_numpy(rows).to(getattr(taeda, dtype))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int64", "bool"])
@pytest.mark.parametrize("kind", ["drawn", "alike", "steps"])
def test_unique_slices_of_many_columns(kind, dtype):
    x = wide(kind, dtype)
    got = taeda.unique(x, dim=0, return_inverse=True, return_counts=True)
    want = np.unique(values(x), axis=0, return_inverse=True, return_counts=True)
    assert values(got[0]).tolist() == want[0].tolist()
    assert got[1].tolist() == want[1].reshape(-1).tolist()
    assert got[2].tolist() == want[2].tolist()


@pytest.mark.parametrize("kind", ["drawn", "alike", "steps"])
def test_slices_with_nan_are_in_order_and_differ(kind):
    x = wide(kind, "float32")
    x[::3, 5::7] = math.nan
    got, places = taeda.unique(x, dim=0, return_inverse=True)
    assert got.shape == x.unique(dim=0).shape and not x.isnan().all(0).any()
    assert got[places].nan_to_num(7).tolist() == x.nan_to_num(7).tolist()
    rows = got.nan_to_num(7).tolist()  # NaN is last
    assert rows == sorted(rows)
    assert sum(bool(row.isnan().any()) for row in got) == sum(bool(row.isnan().any()) for row in x)


def test_many_columns_are_not_sorted_one_by_one(monkeypatch):
    turns, plain = [], _sorting._split
    monkeypatch.setattr(_sorting, "_split", lambda *a: turns.append(1) or plain(*a))
    x = taeda.from_numpy(np.random.default_rng(0).standard_normal((5, 20_000)))
    assert taeda.unique(x, dim=0).shape == x.shape
    assert len(turns) == 1


def test_runs():
    x = taeda.tensor([1, 1, 2, 2, 2, 1])
    got = taeda.unique_consecutive(x, return_inverse=True, return_counts=True)
    assert [t.tolist() for t in got] == [[1, 2, 1], [0, 0, 1, 1, 1, 2], [2, 3, 1]]
    rows = taeda.tensor([[1, 2], [1, 2], [3, 4]])
    assert rows.unique_consecutive(dim=0).tolist() == [[1, 2], [3, 4]]
    assert taeda.unique(taeda.tensor([math.nan, math.nan])).numel() == 2
    assert taeda.unique(taeda.empty(0)).shape == (0,)


# ---- places ----


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "int16"])
@pytest.mark.parametrize("right", [False, True])
def test_places_in_a_sorted_sequence(dtype, right):
    sequence = draw((40,), dtype).sort()[0]
    x = draw((6, 7), dtype, seed=1)
    side = "right" if right else "left"
    want = np.searchsorted(values(sequence), values(x), side=side).tolist()
    assert taeda.searchsorted(sequence, x, right=right).tolist() == want
    assert taeda.searchsorted(sequence, x, side=side).tolist() == want
    got = taeda.bucketize(x, sequence, right=right, out_int32=True)
    assert got.tolist() == want
    assert got.dtype == taeda.int32
    order = taeda.from_numpy(np.random.default_rng(0).permutation(40))
    shuffled = taeda.empty_like(sequence).scatter(0, order, sequence)
    assert taeda.searchsorted(shuffled, x, right=right, sorter=order).tolist() == want


def test_every_row_has_its_own_sequence():
    sequences = draw((3, 20), "float64").sort(1)[0]
    x = draw((3, 5), "float64", seed=1)
    got = taeda.searchsorted(sequences, x).tolist()
    assert got == [
        np.searchsorted(s, v).tolist() for s, v in zip(values(sequences), values(x), strict=True)
    ]
    assert taeda.searchsorted(sequences[0], 0.0).dim() == 0
    assert taeda.searchsorted(taeda.tensor([1.0]), taeda.tensor([math.nan])).item() == 1


# ---- counts ----


def test_bincount():
    x = taeda.tensor([4, 1, 1, 0])
    assert taeda.bincount(x).tolist() == [1, 2, 0, 0, 1]
    assert taeda.bincount(x, minlength=7).shape == (7,)
    weights = taeda.tensor([0.5, 1.0, 2.0, 4.0])
    assert taeda.bincount(x, weights).tolist() == [4, 3, 0, 0, 0.5]
    assert taeda.bincount(x, weights.double()).dtype == taeda.float64
    assert taeda.bincount(taeda.empty(0, dtype=taeda.int64)).tolist() == []


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_histc(dtype):
    x = draw((1000,), dtype)
    want, _ = np.histogram(values(x), 13, (-2, 2))
    assert x.histc(13, -2, 2).tolist() == want.tolist()
    x = x + taeda.from_numpy(np.random.default_rng(1).uniform(0, 0.1, 1000)).to(x.dtype)
    want, _ = np.histogram(values(x), 7)
    assert x.histc(7).tolist() == want.tolist()
    assert taeda.histc(taeda.tensor([3.0, 3.0]), 4).tolist() == [0, 0, 2, 0]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("bins", "low", "high"), [(25, -0.3, 2.7), (10, 0.1, 0.9), (7, -1.0, 6.1)])
def test_histc_of_edges(bins, low, high, dtype):
    """The place in the range times the bins, in the dtype's own arithmetic."""
    low, high = np.array([low, high], dtype=dtype)
    edges = np.linspace(low, high, bins + 1, dtype=dtype)
    x = np.concatenate([edges, np.nextafter(edges, low), np.nextafter(edges, high)])
    at = np.minimum(((x - low) * np.array(bins, dtype=dtype) / (high - low)).astype(int), bins - 1)
    want = np.bincount(at[(x >= low) & (x <= high)], minlength=bins)
    got = taeda.from_numpy(x).histc(bins, float(low), float(high))
    assert got.tolist() == want.tolist()


@pytest.mark.parametrize("value", [0.1, -0.7, 3.0, 1000.1])
def test_histc_of_a_constant_is_its_middle(value):
    for dtype in (taeda.float32, taeda.float64):
        assert taeda.full((5,), value, dtype=dtype).histc(4).tolist() == [0, 0, 5, 0]


def test_histc_counts_on_where_float32_cannot():
    assert taeda.histc(taeda.zeros(2**24 + 2), 3, -1, 1).tolist() == [0, 2**24 + 2, 0]


@pytest.mark.parametrize("count", [3, 60])
def test_isin(count):
    x, tests = draw((50,), "int64"), draw((count,), "int64", seed=1)
    want = np.isin(values(x), values(tests))
    assert taeda.isin(x, tests).tolist() == want.tolist()
    assert taeda.isin(x, tests, invert=True).tolist() == (~want).tolist()
    assert taeda.isin(x, 7).tolist() == (values(x) == 7).tolist()
    assert taeda.isin(7, taeda.tensor([1, 7])).item()
    assert not taeda.isin(taeda.tensor([math.nan]), taeda.tensor([math.nan])).item()


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: taeda.ones(2).topk(3), RuntimeError, "3.*2"),
        (lambda: taeda.tensor([True]).topk(1), RuntimeError, "bool"),
        (lambda: taeda.tensor([1j]).sort(), RuntimeError, "complex"),
        (lambda: taeda.ones(2).sort(1), IndexError, "1"),
        (lambda: taeda.bincount(taeda.tensor([-1])), RuntimeError, "-1"),
        (lambda: taeda.bincount(taeda.ones(2)), NotImplementedError, "Float"),
        (lambda: taeda.bincount(taeda.ones(2, 2).long()), RuntimeError, "2 dim"),
        (lambda: taeda.ones(2).histc(0), RuntimeError, "0"),
        (lambda: taeda.tensor([math.nan]).histc(), RuntimeError, "finite"),
        (lambda: taeda.ones(2).histc(3, 2, 1), RuntimeError, "1.*2"),
        (
            lambda: taeda.searchsorted(taeda.ones(2), taeda.ones(2, dtype=taeda.complex64)),
            NotImplementedError,
            "ComplexFloat",
        ),
        (
            lambda: taeda.searchsorted(taeda.ones(2, 3), taeda.ones(3, 3)),
            RuntimeError,
            r"\[2, 3\].*\[3, 3\]",
        ),
        (lambda: taeda.searchsorted(taeda.ones(2), taeda.ones(2), side="up"), RuntimeError, "up"),
        (
            lambda: taeda.searchsorted(taeda.ones(2), taeda.ones(2), sorter=taeda.tensor([0, 5])),
            RuntimeError,
            "5",
        ),
        (lambda: taeda.bucketize(taeda.ones(2), taeda.ones(2, 2)), RuntimeError, "2"),
        (lambda: taeda.unique(taeda.tensor([1j])), NotImplementedError, "complex"),
    ],
)
def test_refusals(call, error, text):
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda x: taeda.unique(x),
        lambda x: taeda.unique(x, dim=0),
        lambda x: taeda.unique_consecutive(x),
        lambda x: taeda.unique_consecutive(x, dim=0),
    ],
)
def test_unique_of_huge_meta_tensors_is_refused_at_once(call):
    with pytest.raises(NotImplementedError, match="depends on values"):
        call(taeda.empty(1, 1 << 40, device="meta"))


@pytest.mark.parametrize("k", [0, 1])
def test_topk_of_a_number_is_the_number(k):
    for number in range(8):  # memory that was used before
        values, indices = taeda.tensor(float(number)).topk(k)
        assert (values.item(), indices.item()) == (number, 0)


ORDERED = (
    taeda.uint8, taeda.int8, taeda.int16, taeda.int32, taeda.int64, taeda.float16, taeda.bfloat16,
    taeda.float32, taeda.float64,
)  # fmt: skip


@pytest.mark.parametrize("name", ["searchsorted", "bucketize"])
@pytest.mark.parametrize("of_values", ORDERED, ids=str)
@pytest.mark.parametrize("of_boundaries", ORDERED, ids=str)
def test_values_and_boundaries_of_any_two_dtypes_are_compared(of_boundaries, of_values, name):
    boundaries = taeda.tensor([0, 2.5, 3, 7, 100]).to(of_boundaries)
    x = taeda.tensor([0, 1, 2, 2.5, 2.75, 3, 99, 100, 120]).to(of_values)
    for right in (False, True):
        wanted = np.searchsorted(boundaries.tolist(), x.tolist(), "right" if right else "left")
        found = (
            taeda.searchsorted(boundaries, x, right=right)
            if name == "searchsorted"
            else taeda.bucketize(x, boundaries, right=right)
        )
        assert found.tolist() == wanted.tolist()


def test_an_integer_keeps_its_digits_beside_float32():
    boundaries = taeda.tensor([2**24 + 1, 2**24 + 3])
    assert taeda.searchsorted(boundaries, taeda.tensor([2.0**24, 2.0**24 + 2])).tolist() == [0, 1]
