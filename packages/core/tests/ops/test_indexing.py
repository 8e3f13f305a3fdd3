"""Indexing against numpy: random index expressions, gather and scatter by plain loops, masks,
embedding, refusals.
"""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

import taeda

LAYOUTS = {
    "row-major": lambda a: taeda.from_numpy(a.copy()),
    "transposed": lambda a: taeda.from_numpy(a.T.copy()).permute(*range(a.ndim)[::-1]),
    "strided": lambda a: taeda.from_numpy(np.repeat(a, 2, -1))[..., ::2],
    "offset": lambda a: taeda.from_numpy(np.concatenate([a, a]))[len(a) :],
}
DTYPES = ["float32", "float64", "int64", "int8", "bool", "complex64"]


def draw(rng, shape, dtype="float32"):
    numbers = rng.integers(-4, 5, shape)
    return (
        (numbers + 1j * rng.integers(-4, 5, shape)).astype(dtype)
        if dtype == "complex64"
        else numbers.astype(dtype)
    )


def both(index):
    """The same index for numpy and for us."""
    if isinstance(index, tuple):
        pairs = [both(i) for i in index]
        return tuple(p[0] for p in pairs), tuple(p[1] for p in pairs)
    return (index, taeda.from_numpy(index)) if isinstance(index, np.ndarray) else (index, index)


# ---- index expressions ----


def random_index(chance, rng, shape):
    """Slices, None, one Ellipsis, and either ints, or masks and index arrays that broadcast together.

    Ints beside arrays are left out: they select first here, while numpy takes them for index arrays.
    """
    common = [chance.choice([1, 2, 3]) for _ in range(chance.randint(1, 2))]
    items, dim, ellipsis, ints = [], 0, False, chance.random() < 0.3
    while dim < len(shape) and chance.random() < 0.85:
        kind, n = chance.random(), shape[dim]
        if kind < 0.1:
            items.append(None)
            continue
        if kind < 0.2 and not ellipsis:
            ellipsis = True
            # one for no dimension separates arrays in numpy only
            rest = chance.randint(1, len(shape) - dim)
            items.append(Ellipsis)
            dim += rest
            continue
        if kind < 0.4:
            items.append(
                slice(
                    chance.choice([None, -2, 0, 1]),
                    chance.choice([None, -1, 1, 9]),
                    chance.choice([None, 1, 2]),
                )
            )
        elif ints:
            items.append(chance.randrange(-n, n))
        elif kind < 0.8:
            part = [chance.choice([1, k]) for k in common][chance.randint(0, len(common) - 1) :]
            items.append(rng.integers(-n, n, part))
        else:
            rank = chance.randint(1, len(shape) - dim)
            items.append(rng.random(shape[dim : dim + rank]) > 0.5)
            dim += rank - 1
        dim += 1
    return tuple(items)


def expressions(count, seed):
    chance, rng = random.Random(seed), np.random.default_rng(seed)
    while count:
        shape = tuple(chance.choice([1, 2, 3, 4]) for _ in range(chance.randint(1, 4)))
        index = random_index(chance, rng, shape)
        a = draw(rng, shape, chance.choice(DTYPES))
        try:
            expected = a[index]
        except IndexError:  # the Ellipsis moved an entry to a dimension it was not drawn for
            continue
        count -= 1
        yield a, index, expected, chance, rng


@pytest.mark.parametrize("layout", LAYOUTS)
def test_reads_what_numpy_reads(layout):
    for a, index, expected, _, _ in expressions(300, seed=1):
        got = LAYOUTS[layout](a)[both(index)[1]]
        assert got.shape == expected.shape, index
        assert got.tolist() == expected.tolist(), index


def unique_places(a, index):
    places = np.arange(a.size).reshape(a.shape)[index]
    return np.unique(places).size == places.size


@pytest.mark.parametrize("layout", LAYOUTS)
def test_writes_what_numpy_writes(layout):
    for a, index, expected, chance, rng in expressions(300, seed=2):
        if not unique_places(a, index):
            continue  # which of two values stays is nobody's promise
        value = draw(rng, np.shape(expected)[chance.randint(0, np.ndim(expected)) :], a.dtype.name)
        x, b = LAYOUTS[layout](a), a.copy()
        b[index] = value
        x[both(index)[1]] = (
            taeda.from_numpy(value) if isinstance(value, np.ndarray) else value.item()
        )
        assert x.tolist() == b.tolist(), index


@pytest.mark.parametrize("layout", LAYOUTS)
def test_duplicates_add_up_when_asked(layout):
    rng = np.random.default_rng(3)
    for shape, index_shape in [((5,), (40,)), ((4, 3), (3, 5)), ((3, 4, 2), (30,))]:
        a, at = draw(rng, shape, "float64"), rng.integers(-shape[0], shape[0], index_shape)
        values = draw(rng, a[at].shape, "float64")
        x = LAYOUTS[layout](a)
        x.index_put_((taeda.from_numpy(at),), taeda.from_numpy(values), accumulate=True)
        np.add.at(a, at, values)
        assert x.tolist() == a.tolist()


def test_lists_arrays_and_python_bools_index_too():
    x = taeda.arange(6).reshape(2, 3)
    assert x[[1, 0]].tolist() == [[3, 4, 5], [0, 1, 2]]
    assert x[np.array([True, False])].tolist() == [[0, 1, 2]]
    assert x[True].shape == (1, 2, 3)
    assert x[False].shape == (0, 2, 3)
    assert x[taeda.tensor(1)].tolist() == [3, 4, 5]
    assert x[..., taeda.tensor([0, 2])].tolist() == [[0, 2], [3, 5]]


def test_basic_indexing_is_a_view_and_advanced_a_copy():
    x = taeda.zeros(3, 3)
    x[1:, 0].fill_(1)
    x[[0]].fill_(5)
    assert x.tolist() == [[0, 0, 0], [1, 0, 0], [1, 0, 0]]
    x[x == 1] = 7
    x[0] = taeda.arange(3)
    assert x.tolist() == [[0, 1, 2], [7, 0, 0], [7, 0, 0]]


def test_threads_do_not_change_sums():
    rng = np.random.default_rng(4)
    at, values = (
        taeda.from_numpy(rng.integers(0, 50, 100_000)),
        taeda.from_numpy(rng.random((100_000, 8), dtype="float32")),
    )
    before, results = taeda.get_num_threads(), []
    try:
        for threads in (1, 2, 4):
            taeda.set_num_threads(threads)
            results.append(taeda.zeros(50, 8).index_add_(0, at, values).tolist())
    finally:
        taeda.set_num_threads(before)
    assert results[0] == results[1] == results[2]


# ---- gather, scatter: an index for every element ----


def places(index, dim):
    """Pairs (place in the index, place in the tensor)."""
    for at in np.ndindex(index.shape):
        yield at, (*at[:dim], int(index[at]), *at[dim + 1 :])


CASES = [
    ((5,), 0, (7,)),
    ((3, 4), 0, (5, 2)),
    ((3, 4), -1, (2, 6)),
    ((2, 3, 4), 1, (2, 5, 3)),
    ((3, 4), 1, (0, 2)),
]


def gather_case(case, dtype, seed=0):
    shape, dim, index_shape = case
    rng = np.random.default_rng(seed)
    return (
        draw(rng, shape, dtype),
        dim,
        rng.integers(0, shape[dim], index_shape),
        draw(rng, index_shape, dtype),
    )


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_gather(case, dtype, layout):
    a, dim, index, _ = gather_case(case, dtype)
    expected = np.zeros(index.shape, a.dtype)
    for here, there in places(index, dim % a.ndim):
        expected[here] = a[there]
    assert LAYOUTS[layout](a).gather(dim, taeda.from_numpy(index)).tolist() == expected.tolist()


REDUCE = {
    "sum": lambda old, new: old + sum(new),
    "prod": lambda old, new: old * np.prod(new),
    "amax": lambda old, new: max([old, *new]),
    "amin": lambda old, new: min([old, *new]),
}
NEUTRAL = {"sum": 0, "prod": 1, "amax": -99, "amin": 99}


def meetings(index, dim, src):
    """What comes to each place."""
    found = {}
    for here, there in places(index, dim):
        found.setdefault(there, []).append(src[here])
    return found


@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("how", REDUCE)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_scatter_reduce(case, how, include_self):
    a, dim, index, src = gather_case(case, "float64")
    expected = a.copy()
    for there, new in meetings(index, dim % a.ndim, src).items():
        expected[there] = REDUCE[how](a[there] if include_self else NEUTRAL[how], new)
    arguments = dim, taeda.from_numpy(index), taeda.from_numpy(src), how
    assert (
        taeda.from_numpy(a).scatter_reduce(*arguments, include_self=include_self).tolist()
        == expected.tolist()
    )


@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("dtype", ["float64", "int64"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_scatter_mean(case, dtype, include_self):
    a, dim, index, src = gather_case(case, dtype)
    expected = a.copy()
    for there, new in meetings(index, dim % a.ndim, src).items():
        all_of_them = [*new, a[there]] if include_self else new
        expected[there] = (
            np.sum(all_of_them) / len(all_of_them)
            if dtype == "float64"
            else np.sum(all_of_them) // len(all_of_them)
        )
    arguments = dim, taeda.from_numpy(index), taeda.from_numpy(src), "mean"
    assert np.allclose(
        taeda.from_numpy(a).scatter_reduce(*arguments, include_self=include_self).tolist(), expected
    )


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_scatter_add_and_in_place_and_values(case, layout):
    a, dim, index, src = gather_case(case, "float64")
    added, filled = a.copy(), a.copy()
    for here, there in places(index, dim % a.ndim):
        added[there] += src[here]
        filled[there] = 9
    x, i, s = LAYOUTS[layout](a), taeda.from_numpy(index), taeda.from_numpy(src)
    assert x.scatter_add(dim, i, s).tolist() == added.tolist()
    assert x.scatter(dim, i, 9).tolist() == filled.tolist()
    assert x.scatter(dim, i, s, reduce="add").tolist() == added.tolist()
    assert x.scatter_add_(dim, i, s) is x
    assert x.tolist() == added.tolist()


def test_scatter_writes_and_keeps_the_rest():
    x = taeda.zeros(3, 4).scatter(
        1, taeda.tensor([[3], [0], [1]]), taeda.tensor([[1.0], [2.0], [3.0]])
    )
    assert x.tolist() == [[0, 0, 0, 1], [2, 0, 0, 0], [0, 3, 0, 0]]


def test_expanded_index():
    x, rows = taeda.arange(12.0).reshape(4, 3), taeda.tensor([[2], [0]])
    assert x.gather(0, rows.expand(2, 3)).tolist() == [[6, 7, 8], [0, 1, 2]]


def test_scalars_count_as_one_dimension():
    x = taeda.tensor(3.0)
    assert x.gather(0, taeda.tensor(0)).shape == ()
    assert x.gather(0, taeda.tensor([0, 0])).tolist() == [3.0, 3.0]
    assert x.index_select(0, taeda.tensor([0])).shape == ()
    assert x.scatter(0, taeda.tensor(0), 5).item() == 5.0


@pytest.mark.parametrize("dim", [0, 1])
def test_gather_of_many_shares_them_out(dim):
    rng = np.random.default_rng(4)
    a, index = rng.standard_normal((300, 700)), rng.integers(0, 300, (300, 700))
    expected = np.take_along_axis(a, index, dim)
    assert np.array_equal(
        taeda.from_numpy(a).gather(dim, taeda.from_numpy(index)).numpy(), expected
    )
    index[170, 3] = 700
    with pytest.raises(RuntimeError, match="index 700 is out of bounds"):
        taeda.from_numpy(a).gather(dim, taeda.from_numpy(index))


# ---- a vector of indices ----


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["float64", "int64", "complex64"])
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_index_select_add_copy_fill(dim, dtype, layout):
    rng = np.random.default_rng(5)
    a = draw(rng, (3, 4, 5), dtype)
    at = rng.integers(0, a.shape[dim], 6)
    source = draw(rng, np.take(a, at, dim).shape, dtype)
    x, i, s = LAYOUTS[layout](a), taeda.from_numpy(at), taeda.from_numpy(source)
    assert x.index_select(dim, i).tolist() == np.take(a, at, dim).tolist()
    assert x.index_select(dim, i.to(taeda.int32)).tolist() == np.take(a, at, dim).tolist()
    added = np.moveaxis(a.copy(), dim, 0)
    np.add.at(added, at, 2 * np.moveaxis(source, dim, 0))
    assert x.index_add(dim, i, s, alpha=2).tolist() == np.moveaxis(added, 0, dim).tolist()
    filled = np.moveaxis(a.copy(), dim, 0)
    filled[at] = 7
    assert x.index_fill(dim, i, 7).tolist() == np.moveaxis(filled, 0, dim).tolist()
    order = rng.permutation(a.shape[dim])
    copied = np.moveaxis(np.empty_like(a), dim, 0)
    copied[order] = np.moveaxis(a, dim, 0)
    assert (
        x.index_copy(dim, taeda.from_numpy(order), taeda.from_numpy(a)).tolist()
        == np.moveaxis(copied, 0, dim).tolist()
    )


@pytest.mark.parametrize("of", list(itertools.product([(), (1,)], repeat=3)), ids=str)
def test_one_number_is_copied_whatever_its_rank(of):
    target, index, source = of
    x = taeda.full(target, 2.0, dtype=taeda.float64, requires_grad=True)
    value = taeda.full(source, 3.0, dtype=taeda.float64, requires_grad=True)
    at = taeda.zeros(index, dtype=taeda.int64)
    made = x.index_copy(0, at, value)
    assert made.shape == target and made.item() == 3
    made.sum().backward()
    assert x.grad.shape == target and not x.grad.any()
    assert value.grad.shape == source and value.grad.item() == 1


@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("how", ["prod", "amax", "amin"])
def test_index_reduce(how, include_self):
    rng = np.random.default_rng(6)
    a, at, source = (
        draw(rng, (4, 3), "float64"),
        rng.integers(0, 4, 5),
        draw(rng, (5, 3), "float64"),
    )
    expected = a.copy()
    for row in set(at.tolist()):
        for c in range(3):
            expected[row, c] = REDUCE[how](
                a[row, c] if include_self else NEUTRAL[how], source[at == row, c].tolist()
            )
    got = taeda.from_numpy(a).index_reduce(
        0, taeda.from_numpy(at), taeda.from_numpy(source), how, include_self=include_self
    )
    assert got.tolist() == expected.tolist()


def test_sources_may_be_the_target_itself():
    x = taeda.arange(4.0)
    x.index_add_(0, taeda.tensor([1, 2, 3, 0]), x)
    assert x.tolist() == [3.0, 1.0, 3.0, 5.0]
    y = taeda.arange(4.0)
    y[taeda.tensor([1, 2, 3])] = y[:3]
    assert y.tolist() == [0.0, 0.0, 1.0, 2.0]


# ---- masks ----


@pytest.mark.parametrize("dtype", [*DTYPES, "int16", "complex128"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_masks(layout, dtype):
    rng = np.random.default_rng(7)
    a, mask = draw(rng, (4, 50), dtype), rng.random((4, 50)) > 0.5
    x, m = LAYOUTS[layout](a), LAYOUTS[layout](mask)
    assert x.masked_select(m).tolist() == a[mask].tolist()
    assert x[m].tolist() == a[mask].tolist()
    assert x.masked_fill(m, 1).tolist() == np.where(mask, np.array(1, a.dtype), a).tolist()
    assert x.nonzero().tolist() == np.argwhere(a).tolist()
    assert [t.tolist() for t in x.nonzero(as_tuple=True)] == [t.tolist() for t in np.nonzero(a)]
    assert [t.tolist() for t in taeda.where(m)] == [t.tolist() for t in np.nonzero(mask)]
    source = draw(rng, (200,), dtype)
    expected = a.copy()
    expected[mask] = source[: mask.sum()]
    assert x.masked_scatter(m, taeda.from_numpy(source)).tolist() == expected.tolist()


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 1.0])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "complex128"])
def test_long_masks(dtype, share):
    rng = np.random.default_rng(8)
    a, mask = draw(rng, (300_001,), "float32").astype(dtype), rng.random(300_001) < share
    x, m = taeda.from_numpy(a), taeda.from_numpy(mask)
    assert (x[m].numpy() == a[mask]).all()
    assert (m.nonzero().numpy()[:, 0] == np.flatnonzero(mask)).all()


def test_masks_broadcast():
    x = taeda.arange(6.0).reshape(2, 3)
    column = taeda.tensor([[True], [False]])
    assert x.masked_fill(column, 9).tolist() == [[9, 9, 9], [3, 4, 5]]
    assert x[0].masked_fill(column, 9).tolist() == [[9, 9, 9], [0, 1, 2]]
    assert x[0].masked_select(column).tolist() == [0, 1, 2]
    assert taeda.tensor(3.0).masked_select(taeda.tensor(True)).tolist() == [3.0]


def test_nonzero_of_scalars_and_nan():
    assert taeda.tensor(2.0).nonzero().shape == (1, 0)
    assert taeda.tensor(0.0).nonzero().shape == (0, 0)
    assert taeda.tensor([0.0, float("nan")]).nonzero().tolist() == [[1]]
    assert taeda.nonzero_static(taeda.tensor([0, 1, 1]), size=3).tolist() == [[1], [2], [-1]]


# ---- rows and tables ----


def test_take_put_and_along_a_dimension():
    a = np.arange(12.0).reshape(3, 4)
    x = taeda.from_numpy(a.T.copy()).t()
    assert x.take(taeda.tensor([[0, -1], [5, 5]])).tolist() == [[0.0, 11.0], [5.0, 5.0]]
    assert x.put(taeda.tensor([1, -1]), taeda.tensor([50.0, 60.0], dtype=taeda.float64)).take(
        taeda.tensor([1, 11])
    ).tolist() == [50, 60]
    added = x.put(
        taeda.tensor([1, 1]), taeda.tensor([5.0, 6.0], dtype=taeda.float64), accumulate=True
    )
    assert added[0, 1].item() == 12.0
    order = np.argsort(-a, 1)
    assert (
        x.take_along_dim(taeda.from_numpy(order), 1).tolist()
        == np.take_along_axis(a, order, 1).tolist()
    )
    assert x.take_along_dim(taeda.tensor([2, -1])).tolist() == [2.0, 11.0]


def test_embedding_and_one_hot():
    table = taeda.arange(12.0).reshape(4, 3)
    index = taeda.tensor([[3, 0], [1, 3]])
    assert taeda.embedding(table, index).tolist() == [
        [[9, 10, 11], [0, 1, 2]],
        [[3, 4, 5], [9, 10, 11]],
    ]
    grad = taeda.embedding_dense_backward(taeda.ones(2, 2, 3), index, 4, 0, False)
    assert grad[:, 0].tolist() == [0, 1, 0, 2]
    halved = taeda.embedding_dense_backward(taeda.ones(2, 2, 3), index, 4, -1, True)
    assert halved[:, 0].tolist() == [1, 1, 0, 1]
    assert taeda._C._nn.one_hot(taeda.tensor([0, 2])).tolist() == [[1, 0, 0], [0, 0, 1]]


def test_parts_replaced_in_a_copy():
    x = taeda.zeros(3, 3)
    assert x.select_scatter(taeda.ones(3), 1, -1).tolist() == [[0, 0, 1]] * 3
    assert x.slice_scatter(taeda.ones(3, 2), 1, 0, None, 2).tolist() == [[1, 0, 1]] * 3
    assert x.diagonal_scatter(taeda.ones(2), 1).tolist() == [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    assert x.as_strided_scatter(taeda.ones(2), (2,), (3,), 1).tolist() == [
        [0, 1, 0],
        [0, 1, 0],
        [0, 0, 0],
    ]
    assert x.sum().item() == 0


def test_unravel_index():
    places_ = np.array([[0, 5], [11, 7]])
    expected = np.unravel_index(places_, (3, 4))
    assert [t.tolist() for t in taeda.unravel_index(taeda.from_numpy(places_), (3, 4))] == [
        e.tolist() for e in expected
    ]


# ---- refusals ----

X = taeda.arange(12.0).reshape(3, 4)
I5 = taeda.tensor([5])
REFUSALS = [
    (lambda: X[5], IndexError, "5.*size 3"),
    (lambda: X[0, 0, 0], IndexError, "too many"),
    (lambda: X[::-1], ValueError, "step"),
    (lambda: X[I5], IndexError, "index 5.*dimension 0.*size 3"),
    (lambda: X[taeda.tensor([0, 1]), taeda.tensor([0, 1, 2])], IndexError, r"\[2\], \[3\]"),
    (lambda: X[taeda.ones(2, 4, dtype=taeda.bool)], IndexError, r"\[2, 4\].*\[3, 4\]"),
    (lambda: X[taeda.tensor([1.0])], IndexError, "long, int, byte or bool"),
    (lambda: X.index_put((taeda.tensor([0]),), taeda.ones(3)), RuntimeError, r"\[3\].*\[1, 4\]"),
    (
        lambda: X.index_put((taeda.tensor([0]),), taeda.ones(4, dtype=taeda.float64)),
        RuntimeError,
        "float32.*float64",
    ),
    (lambda: X.gather(0, taeda.tensor([[5]])), RuntimeError, "index 5.*size 3"),
    (lambda: X.gather(0, taeda.tensor([[-1]])), RuntimeError, "index -1"),
    (lambda: X.gather(0, I5), RuntimeError, "same number of dimensions"),
    (
        lambda: X.gather(0, taeda.zeros(1, 5, dtype=taeda.int64)),
        RuntimeError,
        r"\[1, 5\].*\[3, 4\]",
    ),
    (lambda: X.gather(0, taeda.zeros(1, 1)), RuntimeError, "int32 or int64"),
    (lambda: X.scatter(0, taeda.tensor([[5]]), 1), RuntimeError, "index 5"),
    (
        lambda: X.scatter(0, taeda.tensor([[1]]), taeda.ones(1, 1, dtype=taeda.int64)),
        RuntimeError,
        "float32 and int64",
    ),
    (lambda: X.scatter(0, taeda.tensor([[1]]), 1, reduce="mean"), RuntimeError, "mean"),
    (lambda: X.scatter_reduce(0, taeda.tensor([[1]]), X, "sun"), RuntimeError, "sun"),
    (lambda: X.index_select(0, I5), IndexError, "index 5"),
    (lambda: X.index_select(0, taeda.tensor([-1])), IndexError, "index -1"),
    (lambda: X.index_select(0, taeda.tensor([[0]])), IndexError, "vector"),
    (lambda: X.index_add(0, I5, taeda.ones(1, 4)), IndexError, "index 5"),
    (lambda: X.index_add(0, taeda.tensor([0]), taeda.ones(2, 4)), RuntimeError, r"\(1\).*\(2\)"),
    (
        lambda: X.index_add(0, taeda.tensor([0]), taeda.ones(1, 3)),
        RuntimeError,
        r"\[3, 4\].*\[1, 3\]",
    ),
    (
        lambda: X.index_copy(0, taeda.tensor([0], dtype=taeda.int32), taeda.ones(1, 4)),
        RuntimeError,
        "int32",
    ),
    (lambda: X.index_copy(0, taeda.tensor([0]), taeda.ones(2, 4)), IndexError, r"\(1\).*\(2\)"),
    (lambda: X.index_fill(0, taeda.tensor([0]), taeda.ones(2)), RuntimeError, "0-dim"),
    (lambda: X.index_reduce(0, taeda.tensor([0]), taeda.ones(1, 4), "sum"), RuntimeError, "sum"),
    (lambda: X.masked_fill(X, 1), RuntimeError, "boolean"),
    (lambda: X.masked_fill(X > 0, 1j), RuntimeError, "float32"),
    (lambda: X[0].masked_fill_(X > 0, 1), RuntimeError, r"\[4\].*\[3, 4\]"),
    (lambda: X.masked_select(taeda.ones(3, dtype=taeda.bool)), RuntimeError, "4 and 3"),
    (lambda: X.masked_scatter(X >= 0, taeda.ones(3)), RuntimeError, "3 < 12"),
    (lambda: X.take(taeda.tensor([12])), IndexError, "12"),
    (lambda: X.take(taeda.tensor([0], dtype=taeda.int32)), RuntimeError, "int32"),
    (lambda: X.put(taeda.tensor([0]), taeda.ones(2)), IndexError, "2.*1"),
    (lambda: taeda.embedding(X, I5), IndexError, "index 5"),
    (lambda: taeda.embedding(X[0], I5), RuntimeError, "2-D"),
    (lambda: taeda._C._nn.one_hot(taeda.tensor([3]), 2), RuntimeError, "3 for 2"),
    (lambda: taeda._C._nn.one_hot(taeda.tensor([-1])), RuntimeError, "-1"),
    (lambda: X.select_scatter(taeda.ones(3), 0, 0), RuntimeError, r"\[3\].*\[4\]"),
    (lambda: X.take_along_dim(taeda.tensor([0]), 1), RuntimeError, "2 dimensions.*1 dimensions"),
    (lambda: X.to("meta").nonzero(), NotImplementedError, "meta"),
    (lambda: taeda.unravel_index(taeda.tensor([12]), (3, 4)), ValueError, "outside"),
]


@pytest.mark.parametrize(("call", "kind", "words"), REFUSALS)
def test_refuses_and_changes_nothing(call, kind, words):
    before = X.tolist()
    with pytest.raises(kind, match=words):
        call()
    assert X.tolist() == before


@pytest.mark.parametrize("shape", [(3, 3), (2, 5), (7, 2), (4, 3), (0, 3), (3, 0), (3, 3, 3)])
@pytest.mark.parametrize("wrap", [False, True])
def test_fill_diagonal(shape, wrap):
    expected = np.zeros(shape)
    if expected.size:
        np.fill_diagonal(expected, 5, wrap=wrap)
    x = taeda.zeros(shape)
    assert x.fill_diagonal_(5, wrap) is x
    np.testing.assert_array_equal(x.numpy(), expected)
    turned = taeda.zeros(shape[::-1]).permute(*reversed(range(len(shape))))
    np.testing.assert_array_equal(turned.fill_diagonal_(5, wrap).numpy(), expected)


def test_fill_diagonal_passes_no_gradient_through_what_it_wrote():
    x = taeda.ones(2, 2, requires_grad=True)
    (x * 2).fill_diagonal_(0).sum().backward()
    assert x.grad.tolist() == [[0, 2], [2, 0]]


def test_fill_diagonal_refusals():
    with pytest.raises(RuntimeError, match="2 dimensions or more, but got 1"):
        taeda.zeros(3).fill_diagonal_(1)
    with pytest.raises(RuntimeError, match=r"equal length, but got \(2, 3, 2\)"):
        taeda.zeros(2, 3, 2).fill_diagonal_(1)


def test_one_number_of_any_dtype_goes_wherever_a_mask_is_true():
    x = taeda.zeros(2, 3, dtype=taeda.int64)
    x[taeda.tensor([True, False]), :] = taeda.tensor([2.5], dtype=taeda.float64)
    assert x.tolist() == [[2, 2, 2], [0, 0, 0]]
    with pytest.raises(RuntimeError, match="int64 for the destination and float32"):
        x[taeda.tensor([True, True])] = taeda.ones(2, 3)


def test_unravelled_indices_are_int64():
    rows, columns = taeda.unravel_index(taeda.tensor([3, 4], dtype=taeda.uint8), (2, 3))
    assert (rows.tolist(), columns.tolist()) == ([1, 1], [0, 1])
    assert rows.dtype is columns.dtype is taeda.int64


@pytest.mark.parametrize(
    ("geometry", "words"),
    [
        (([2, 2], [], 0, [2], [1], 0), "2 sizes and 0 strides"),
        (([2], [1], -1, [2], [1], 0), "must not be negative"),
        (([2], [-1], 0, [2], [1], 0), "must not be negative"),
        (([2], [1], 0, [2], [2**62], 2**62), "beyond 64 bits"),
        (([-2], [1], 0, [2], [1], 0), "negative dimension"),
        (([2], [1], 0, [2**54], [0], 0), "has not the sizes of the view"),
        (([2], [1], 0, [2, 1], [0, 0], 0), "has not the sizes of the view"),
    ],
)
def test_the_gradient_of_as_strided_refuses_what_is_no_geometry(geometry, words):
    from taeda._C import _nn

    with pytest.raises(RuntimeError, match=words):
        _nn.as_strided_backward(taeda.ones(2), *geometry)


# ---- memory that is written ----


def test_an_index_in_the_written_memory_is_refused():
    def refused(call):
        with pytest.raises(RuntimeError, match=r"index and the written-to tensor .* clone\(\)"):
            call()

    x = taeda.tensor([1, 0, 0, 0, 0, 0, 0, 0])
    refused(lambda: x.scatter_(0, x, 10**9))
    ones = taeda.ones(8, dtype=taeda.int64)
    refused(lambda: ones.scatter_add_(0, ones, taeda.full((8,), 10**12)))
    refused(lambda: ones.scatter_reduce_(0, ones, taeda.full((8,), 10**12), "sum"))
    i = taeda.tensor([1] + [0] * 7)
    refused(lambda: i.view(taeda.float64).scatter_(0, i, 1e300))
    b = taeda.tensor([0, 1, 0, 0, 0, 0, 0, 0, 0])
    refused(lambda: b[:8].scatter_add_(0, b[1:], taeda.full((8,), 40)))
    assert b.tolist() == [0, 1, 0, 0, 0, 0, 0, 0, 0]
    y = taeda.arange(8)
    y[::2].scatter_(0, y[1::2] // 2, taeda.tensor([9, 8, 7, 6]))  # beside each other is fine
    assert y.tolist() == [9, 1, 8, 3, 7, 5, 6, 7]


def test_a_mask_that_is_a_part_of_the_tensor():
    b = taeda.zeros(8, dtype=taeda.bool)
    b[0] = True
    with pytest.raises(RuntimeError, match="clone"):
        b[1:].masked_fill_(b[:-1], True)
    b[1:][b[:-1]] = True
    assert b.tolist() == [True, True] + [False] * 6
    assert b.masked_fill_(b, False).tolist() == [False] * 8  # the tensor itself


def test_expanded_targets():
    x = taeda.ones(2, 2).expand(2, 2, 2)
    with pytest.raises(RuntimeError, match="more than one element"):
        x.masked_fill_(taeda.tensor([[[True, False]] * 2, [[False, False]] * 2]), 0)
    with pytest.raises(RuntimeError, match="more than one element"):
        x[taeda.tensor([0])] = taeda.zeros(2, 2)
    x[taeda.tensor([0])] = 5.0  # one number everywhere
    assert x.tolist() == [[[5.0, 5.0]] * 2] * 2


def test_put_reads_a_source_that_it_writes():
    x = taeda.arange(4.0)
    assert x.put_(taeda.tensor([1, 2, 3, 0]), x).tolist() == [3.0, 0.0, 1.0, 2.0]


# ---- sums of 16 bits ----


@pytest.mark.parametrize("dtype", [taeda.bfloat16, taeda.float16])
@pytest.mark.parametrize("rest", [(), (3,), (40,)])  # numbers, short and long rows
@pytest.mark.parametrize("places", [2, 100_000])  # most of the target is written, or little
def test_sums_at_one_place_are_rounded_once(dtype, rest, places):
    rng = np.random.default_rng(3)
    at = taeda.from_numpy(rng.integers(0, 2, 4000))
    source = taeda.from_numpy(rng.random((4000, *rest)).astype(np.float32)).to(dtype)
    exact = np.zeros((2, *rest))
    np.add.at(exact, at.numpy(), source.double().numpy())
    wanted = taeda.from_numpy(exact).to(dtype)
    wide = at.reshape(-1, *(1 for _ in rest)).expand(source.shape)
    zeros = taeda.zeros(places, *rest, dtype=dtype)
    for made in (
        zeros.index_add(0, at, source),
        zeros.index_put((at,), source, accumulate=True),
        zeros.scatter_add(0, wide, source),
        zeros.T.contiguous().T.clone().index_add_(0, at, source),
    ):
        assert taeda.allclose(made[:2].double(), wanted.double(), rtol=2**-7)
        assert not made[2:].any()


@pytest.mark.parametrize("dtype", [taeda.bfloat16, taeda.float16])
@pytest.mark.parametrize("rest", [(), (3,)])
@pytest.mark.parametrize("count", [1, 2, 15, 16, 17, 63, 64, 65, 200])  # each way of adding few
def test_bits_of_sums_do_not_depend_on_how_many_there_are(dtype, rest, count):
    rng = np.random.default_rng(count)
    at = taeda.from_numpy(rng.integers(0, 5, count))
    source = taeda.from_numpy(rng.random((count, *rest), dtype="float32") + 0.5).to(dtype)
    wide = at.reshape(-1, *(1 for _ in rest)).expand(source.shape)
    start = taeda.from_numpy(rng.random((5, *rest), dtype="float32")).to(dtype)
    for call in (
        lambda x, s: x.index_add(0, at, s),
        lambda x, s: x.index_put((at,), s, accumulate=True),
        lambda x, s: x.scatter_add(0, wide, s),
        lambda x, s: x.scatter_reduce(0, wide, s, "prod"),
        lambda x, s: x.T.contiguous().T.clone().scatter_add_(0, wide, s),
    ):
        wanted = call(start.float(), source.float()).to(dtype)
        assert call(start, source).tolist() == wanted.tolist()


def test_means_do_not_overflow_before_they_are_divided():
    i, x = taeda.zeros(4000, dtype=taeda.int64), taeda.full((4000,), 100.0, dtype=taeda.float16)
    zero = taeda.zeros(1, dtype=taeda.float16)
    assert zero.scatter_reduce(0, i, x, "mean", include_self=False).tolist() == [100.0]
    assert zero.index_reduce(0, i, x, "mean", include_self=False).tolist() == [100.0]
    small = taeda.tensor([0.001], dtype=taeda.float16)
    assert zero.index_add(0, i[:1], small, alpha=1e5).item() == pytest.approx(100, rel=0.01)


def test_a_mask_as_lists_of_any_number_of_rows():
    for rows in (3, 31, 32, 40):
        x = taeda.arange(rows * 2).reshape(rows, 2)
        mask = x % 3 == 0
        assert x[mask.tolist()].tolist() == x[mask].tolist()
    pair = taeda.arange(4).reshape(2, 2)
    assert pair[[[True, False], [False, True]]].tolist() == [1]  # two lists for two dimensions


def test_masked_indices_are_cut_and_count_where_the_mask_is_true():
    x = taeda.arange(6.0).reshape(2, 3).requires_grad_()
    mask = taeda.tensor([True, False, True])
    rows, columns = taeda.tensor([1, 99, -1]), taeda.tensor([0, -50, 2], dtype=taeda.int32)
    made = taeda._unsafe_masked_index(x, mask, [rows, columns], 7.0)
    assert made.tolist() == [3.0, 7.0, 5.0]
    made.sum().backward()
    assert x.grad.tolist() == [[0.0, 0.0, 0.0], [1.0, 0.0, 1.0]]
    put = taeda._unsafe_masked_index_put_accumulate
    added = put(x.detach(), mask, [rows, columns], taeda.ones(3))
    assert added.tolist() == [[0.0, 1.0, 2.0], [4.0, 4.0, 6.0]]
    whole = taeda._unsafe_masked_index(x.detach(), mask, [None, columns], 9)
    assert whole.tolist() == [[0.0, 9.0, 2.0], [3.0, 9.0, 5.0]]


def test_masked_indices_of_nothing():
    empty, none = taeda.zeros(0, 2), taeda.tensor([[False], [False]])
    index = [taeda.tensor([3, 4])]
    made = taeda._unsafe_masked_index(empty, none, index, 1.5)
    assert made.tolist() == [[1.5, 1.5]] * 2
    assert taeda._unsafe_masked_index_put_accumulate(empty, none, index, made).shape == (0, 2)
    with pytest.raises(IndexError, match="nothing to index"):
        taeda._unsafe_masked_index(empty, ~none, index, 1.5)
    for name, more in (("_unsafe_masked_index", 0), ("_unsafe_masked_index_put_accumulate", made)):
        with pytest.raises(RuntimeError, match=r"int64 or int32, but one has dtype taeda\.bool"):
            getattr(taeda, name)(made, none, [none], more)
        with pytest.raises(IndexError, match="3 indices for a tensor of 2 dimensions"):
            getattr(taeda, name)(made, none, index * 3, more)


@pytest.mark.parametrize("value", [7, 7.0, [7.0] * 3], ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_one_truth_value_writes_all_or_nothing_of_any_dtype(value, dtype):
    x, given = taeda.zeros(2, 3), taeda.tensor(value).to(getattr(taeda, dtype))
    x[False] = given
    assert x.tolist() == [[0] * 3] * 2
    x[True] = given
    assert x.tolist() == [[7] * 3] * 2
