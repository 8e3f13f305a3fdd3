"""Joins against numpy: values, promotion, layouts, empty pieces, refusals."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import taeda


def array(t):
    return np.array(t.tolist()).reshape(t.shape)


PIECES = {
    "row-major": lambda: [taeda.arange(6.0).reshape(2, 3), taeda.ones(2, 3)],
    "transposed": lambda: [taeda.arange(6.0).reshape(3, 2).t(), taeda.ones(3, 2).t()],
    "mixed": lambda: [
        taeda.arange(12.0).reshape(2, 6)[:, ::2],
        taeda.ones(2, 3),
        taeda.ones(1, 3).expand(2, 3),
    ],
    "complex": lambda: [taeda.ones(2, 3, dtype=taeda.complex64).conj() * 1j, taeda.ones(2, 3)],
    "one": lambda: [taeda.arange(6.0).reshape(2, 3)],
    "large": lambda: [taeda.arange(30000.0).reshape(100, 300), taeda.ones(100, 300)],
}


@pytest.mark.parametrize("steps", [1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 33, 5000])
def test_blocks_of_every_size(steps):
    """Rows have one block of each piece; the pieces take turns within 8 KB."""
    x = taeda.arange(700 * steps).to(taeda.uint8).reshape(700, steps)
    y = taeda.arange(700 * 3).to(taeda.uint8).reshape(700, 3)
    want = np.concatenate([x.numpy(), y.numpy(), x.numpy()], 1)
    assert np.array_equal(taeda.cat([x, y, x], 1).numpy(), want)
    assert np.array_equal(taeda.stack([x, x + 1], 1).numpy(), np.stack([x, x + 1], 1))


@pytest.mark.parametrize("dim", [0, 1, -1, -2])
@pytest.mark.parametrize("pieces", PIECES)
def test_cat_and_stack(pieces, dim):
    tensors = PIECES[pieces]()
    arrays = [array(t) for t in tensors]
    assert taeda.cat(tensors, dim).tolist() == np.concatenate(arrays, dim).tolist()
    assert taeda.stack(tensors, dim).tolist() == np.stack(arrays, dim).tolist()


def test_pieces_of_different_sizes():
    x = [taeda.full((2, n, 3), float(n)) for n in (1, 0, 4)]
    assert taeda.cat(x, 1).tolist() == np.concatenate([array(t) for t in x], 1).tolist()


@pytest.mark.parametrize(
    ("dtypes", "result"),
    [
        ((taeda.int32, taeda.float32), taeda.float32),
        ((taeda.float16, taeda.bfloat16), taeda.float32),
        ((taeda.bool, taeda.uint8, taeda.int8), taeda.int16),
        ((taeda.float64, taeda.complex64), taeda.complex128),
    ],
)
def test_dtypes_promote(dtypes, result):
    tensors = [taeda.ones(2, dtype=d) for d in dtypes]
    assert taeda.cat(tensors).dtype is result
    assert taeda.stack(tensors).dtype is result


def test_flat_tensors_without_elements_are_skipped_but_promote():
    x = taeda.ones(2, 2)
    assert taeda.cat([taeda.ones(0), x], 1).tolist() == x.tolist()
    assert taeda.cat([x, taeda.ones(0, dtype=taeda.float64)], 1).dtype is taeda.float64
    assert taeda.cat([taeda.ones(0), taeda.ones(0)]).shape == (0,)


def test_channels_last_stays():
    x = taeda.ones(1, 2, 3, 4).contiguous(memory_format=taeda.channels_last)
    assert taeda.cat([x, x], 1).is_contiguous(memory_format=taeda.channels_last)


STACKS = {
    "hstack": (taeda.hstack, np.hstack),
    "vstack": (taeda.vstack, np.vstack),
    "row_stack": (taeda.row_stack, np.vstack),
    "dstack": (taeda.dstack, np.dstack),
    "column_stack": (taeda.column_stack, np.column_stack),
}


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 3, 4)])
@pytest.mark.parametrize("name", STACKS)
def test_named_stacks(name, shape):
    ours, theirs = STACKS[name]
    tensors = [taeda.full(shape, 1.0), taeda.full(shape, 2.0)]
    assert ours(tensors).tolist() == theirs([array(t) for t in tensors]).tolist()


@pytest.mark.parametrize("indexing", ["ij", "xy"])
@pytest.mark.parametrize("sizes", [(2,), (2, 3), (2, 3, 4), (2, 0)])
def test_meshgrid(sizes, indexing):
    axes = [taeda.arange(n) for n in sizes]
    expected = np.meshgrid(*map(array, axes), indexing=indexing)
    assert [g.tolist() for g in taeda.meshgrid(*axes, indexing=indexing)] == [
        e.tolist() for e in expected
    ]


def test_meshgrid_warns_without_indexing():
    with pytest.warns(UserWarning, match="indexing"):
        taeda.meshgrid(taeda.arange(2), taeda.arange(2))


def test_products_and_blocks():
    a, b = taeda.tensor([1, 2]), taeda.tensor([3, 4, 5])
    assert taeda.cartesian_prod(a, b).tolist() == [[x, y] for x in (1, 2) for y in (3, 4, 5)]
    assert taeda.combinations(b).tolist() == [[3, 4], [3, 5], [4, 5]]
    assert taeda.combinations(a, 2, True).tolist() == [[1, 1], [1, 2], [2, 2]]
    assert taeda.combinations(a, 3).shape == (0, 3)
    assert taeda.block_diag(taeda.ones(1, 2), taeda.tensor(3.0)).tolist() == [
        [1.0, 1.0, 0.0],
        [0.0, 0.0, 3.0],
    ]
    assert taeda.block_diag().shape == (1, 0)


def test_atleast():
    assert taeda.atleast_1d(taeda.tensor(1.0)).shape == (1,)
    assert [t.shape for t in taeda.atleast_2d(taeda.ones(3), taeda.ones(2, 2))] == [(1, 3), (2, 2)]
    assert taeda.atleast_3d(taeda.ones(2, 3)).shape == (2, 3, 1)


def test_broadcasting_shapes_and_tensors():
    assert taeda.broadcast_shapes((3, 1), (4,), 1, ()) == (3, 4)
    assert taeda.broadcast_shapes((0,), (1,)) == (0,)
    x, y = taeda.broadcast_tensors(taeda.ones(3, 1), taeda.arange(4))
    assert x.shape == y.shape == (3, 4)
    with pytest.raises(RuntimeError, match="2 and 3"):
        taeda.broadcast_shapes((2,), (3,))


REFUSALS = [
    (lambda: taeda.cat([]), ValueError, "non-empty"),
    (lambda: taeda.stack([]), RuntimeError, "non-empty"),
    (lambda: taeda.hstack([]), RuntimeError, "non-empty"),
    (lambda: taeda.cat([taeda.tensor(1.0)]), RuntimeError, "position 0"),
    (lambda: taeda.cat([taeda.ones(2, 2), taeda.ones(2)]), RuntimeError, r"2 \[2, 2\] and 1 \[2\]"),
    (lambda: taeda.cat([taeda.ones(2, 2), taeda.ones(2, 3)]), RuntimeError, r"\[2, 3\].*number 1"),
    (lambda: taeda.cat([taeda.ones(2)], 1), IndexError, r"\[-1, 0\]"),
    (lambda: taeda.stack([taeda.ones(2), taeda.ones(3)]), RuntimeError, r"\[3\] at entry 1"),
    (lambda: taeda.stack([taeda.ones(2)], 2), IndexError, "2"),
    (
        lambda: taeda.cat([taeda.ones(2, dtype=taeda.uint16), taeda.ones(2, dtype=taeda.int64)]),
        RuntimeError,
        "uint16",
    ),
    (lambda: taeda.meshgrid(taeda.ones(2, 2), indexing="ij"), RuntimeError, r"\[2, 2\]"),
    (lambda: taeda.meshgrid(taeda.ones(2), indexing="ji"), RuntimeError, "ji"),
    (lambda: taeda.cartesian_prod(taeda.ones(2, 2)), RuntimeError, r"\[2, 2\]"),
    (lambda: taeda.block_diag(taeda.ones(1, 1, 1)), RuntimeError, "3 dimensions"),
    (lambda: taeda.combinations(taeda.ones(3), -1), RuntimeError, "-1"),
]


@pytest.mark.parametrize(("call", "kind", "words"), REFUSALS)
def test_refuses(call, kind, words):
    with pytest.raises(kind, match=words):
        call()


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("r", [1, 2, 3])
@pytest.mark.parametrize("n", [0, 1, 5])
def test_combinations_are_those_of_itertools(n, r, again):
    choose = itertools.combinations_with_replacement if again else itertools.combinations
    wanted = [list(row) for row in choose(range(10, 10 + n), r)]
    found = taeda.combinations(taeda.arange(10, 10 + n), r, again)
    assert found.shape == (len(wanted), r)
    assert found.tolist() == wanted


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_choices_that_no_memory_holds_are_refused(device):
    x = taeda.ones(6, device=device)
    assert taeda.combinations(x, 2**28).shape == (0, 2**28)
    assert taeda.combinations(x, 2**62).shape == (0, 2**62)
    assert taeda.combinations(x[:0], 2**33, True).shape == (0, 2**33)
    for r in (2**27, 2**31, 2**62):
        with pytest.raises(RuntimeError, match="too many ways to choose"):
            taeda.combinations(x, r, True)
    with pytest.raises(RuntimeError, match="too many ways to choose 100 of 200"):
        taeda.combinations(taeda.ones(200, device=device), 100)
