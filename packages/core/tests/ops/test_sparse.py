"""Products with matrices in compressed rows, against the dense matrix; and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import taeda
from taeda.testing import assert_close


def matrix(rows, columns, share=0.3, seed=0, dtype=np.float32):
    """(dense array, offsets, columns, values) with empty rows and full ones."""
    rng = np.random.default_rng(seed)
    dense = rng.standard_normal((rows, columns)).astype(dtype)
    dense[rng.random((rows, columns)) > share] = 0
    if rows > 2:
        dense[1], dense[2] = 0, 1
    places = np.argwhere(dense)
    offsets = np.concatenate([[0], np.cumsum((dense != 0).sum(1))])
    return dense, offsets, places[:, 1].copy(), dense[dense != 0]


def given(dense, offsets, columns, values, index=np.int64):
    arrays = (offsets.astype(index), columns.astype(index), values)
    return dense, *map(taeda.from_numpy, arrays)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("width", [0, 1, 3, 16, 17, 63, 64, 100, 130])
def test_product(width, index, dtype):
    dense, crow, col, values = given(*matrix(13, 90, dtype=dtype), index)
    other = np.random.default_rng(1).standard_normal((90, width)).astype(dtype)
    found = taeda._csr_mm(crow, col, values, taeda.from_numpy(other))
    assert_close(found.numpy(), dense @ other, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_rows_of_any_length_in_threads(threads):
    dense, crow, col, values = given(*matrix(700, 300, share=0.05))
    other = np.random.default_rng(1).standard_normal((300, 40)).astype(np.float32)
    before = taeda.get_num_threads()
    taeda.set_num_threads(threads)
    try:
        found = taeda._csr_mm(crow, col, values, taeda.from_numpy(other))
    finally:
        taeda.set_num_threads(before)
    assert_close(found.numpy(), dense @ other, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("width", [0, 1, 5, 16, 40])
def test_products_at_places(width):
    dense, crow, col, _ = given(*matrix(13, 9))
    rng = np.random.default_rng(1)
    a, b = (rng.standard_normal((n, width)).astype(np.float32) for n in (13, 9))
    found = taeda._csr_sampled(crow, col, taeda.from_numpy(a), taeda.from_numpy(b))
    assert_close(found.numpy(), (a @ b.T)[dense != 0], rtol=1e-4, atol=1e-5)


def test_transposed():
    dense, crow, col, values = given(*matrix(13, 9))
    ccol, row, order = taeda._csr_transpose(crow, col, 9)
    columns = np.argwhere(dense.T)
    assert row.tolist() == columns[:, 1].tolist()
    assert ccol.tolist() == np.concatenate([[0], np.cumsum((dense != 0).sum(0))]).tolist()
    assert values[order].tolist() == dense.T[dense.T != 0].tolist()


def test_operands_of_any_strides():
    dense, crow, col, values = given(*matrix(13, 9))
    other = np.random.default_rng(1).standard_normal((5, 9)).astype(np.float32)
    wide = taeda.stack([values, values], 1)[:, 0]
    found = taeda._csr_mm(crow, col, wide, taeda.from_numpy(other).t())
    assert_close(found.numpy(), dense @ other.T, rtol=1e-4, atol=1e-5)


def test_meta():
    meta = {"device": "meta"}
    index = [taeda.empty(4, dtype=taeda.int64, **meta), taeda.empty(7, dtype=taeda.int64, **meta)]
    made = taeda._csr_mm(*index, taeda.empty(7, **meta), taeda.empty(5, 2, **meta))
    assert made.is_meta and made.shape == (3, 2)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(
    ("rows", "inner", "columns", "share"),
    [(13, 9, 7, 0.4), (300, 200, 9000, 0.1), (0, 3, 4, 0.5), (3, 0, 4, 0.5), (3, 4, 0, 0.5)],
)
def test_sparse_times_sparse(rows, inner, columns, share, threads, dtype):
    first = given(*matrix(rows, inner, share, 0, dtype), np.int32)
    second = given(*matrix(inner, columns, share, 1, dtype))
    meets = (first[0] != 0).astype(int) @ (second[0] != 0).astype(int)
    before = taeda.get_num_threads()
    taeda.set_num_threads(threads)
    try:
        values, crow, col = taeda._csr_spgemm(*first[1:], *second[1:], columns)
    finally:
        taeda.set_num_threads(before)
    assert crow.tolist() == [0, *np.cumsum((meets != 0).sum(1)).tolist()]
    assert col.tolist() == np.argwhere(meets)[:, 1].tolist()
    assert_close(values.numpy(), (first[0] @ second[0])[meets != 0], rtol=1e-4, atol=1e-4)


CROW, COL, VALUES, OTHER = (
    taeda.tensor([0, 1, 2]),
    taeda.tensor([1, 0]),
    taeda.ones(2),
    taeda.ones(3, 2),
)


@pytest.mark.parametrize(
    ("arguments", "error", "fact"),
    [
        ((CROW, taeda.tensor([1, 3]), VALUES, OTHER), IndexError, "column 3 is out of range"),
        ((CROW, taeda.tensor([-1, 0]), VALUES, OTHER), IndexError, "column -1"),
        ((taeda.tensor([0, 3, 2]), COL, VALUES, OTHER), RuntimeError, "rise from 0 to 2"),
        ((taeda.tensor([1, 1, 2]), COL, VALUES, OTHER), RuntimeError, "rise from 0 to 2"),
        ((taeda.tensor([0, 1, 1]), COL, VALUES, OTHER), RuntimeError, "rise from 0 to 2"),
        ((CROW, COL.float(), VALUES, OTHER), RuntimeError, "int64 or int32"),
        ((CROW, COL, taeda.ones(3), OTHER), RuntimeError, "a value for each"),
        ((CROW, COL, VALUES, OTHER.double()), NotImplementedError, "float32 and float64"),
        ((CROW[:0], COL[:0], VALUES[:0], OTHER), RuntimeError, "offsets"),
    ],
)
def test_refused(arguments, error, fact):
    with pytest.raises(error, match=fact):
        taeda._csr_mm(*arguments)


def test_places_refused():
    with pytest.raises(IndexError, match="column 3"):
        taeda._csr_transpose(CROW, taeda.tensor([1, 3]), 3)
    with pytest.raises(ValueError, match="0 columns or more"):
        taeda._csr_transpose(CROW, COL, -1)
    with pytest.raises(RuntimeError, match="two matrices"):
        taeda._csr_sampled(CROW, COL, OTHER, OTHER)


def test_sparse_times_sparse_refused():
    mine = (CROW, COL, VALUES)
    with pytest.raises(IndexError, match="column 1 is out of range for a matrix of 1 columns"):
        taeda._csr_spgemm(*mine, taeda.tensor([0, 1]), taeda.tensor([0]), VALUES[:1], 1)
    with pytest.raises(IndexError, match="column -1"):
        taeda._csr_spgemm(*mine, CROW, taeda.tensor([0, -1]), VALUES, 2)
    with pytest.raises(RuntimeError, match="rise from 0 to 2"):
        taeda._csr_spgemm(*mine, taeda.tensor([0, 3, 2]), COL, VALUES, 2)
    with pytest.raises(RuntimeError, match="a value for each column index of both"):
        taeda._csr_spgemm(*mine, CROW, COL, taeda.ones(3), 2)
    with pytest.raises(NotImplementedError, match="float32 and float64"):
        taeda._csr_spgemm(*mine, CROW, COL, VALUES.double(), 2)
    with pytest.raises(ValueError, match="0 columns or more"):
        taeda._csr_spgemm(*mine, *mine, -1)
    with pytest.raises(MemoryError, match="rows of"):
        taeda._csr_spgemm(*mine, *mine, 1 << 62)
    meta = [x.to("meta") for x in mine]
    with pytest.raises(NotImplementedError, match="meta tensors"):
        taeda._csr_spgemm(*meta, *meta, 2)
