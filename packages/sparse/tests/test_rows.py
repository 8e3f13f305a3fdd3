"""Places of compressed matrices: by kernels and by indexing they are the same."""

import pytest

import taeda
from taeda.sparse import _rows


def places(rows, columns, dtype=taeda.int64):
    taeda.manual_seed(rows * 31 + columns)
    x = (taeda.rand(rows, columns) < 0.3).float().to_sparse_csr()
    return x.crow_indices().to(dtype), x.col_indices().to(dtype)


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (5, 7), (40, 3), (0, 4), (4, 0)])
def test_row_numbers_repeat_each_row_by_its_entries(rows, columns):
    crow, col = places(rows, columns)
    counts = crow.diff().tolist()
    wanted = [row for row, count in enumerate(counts) for _ in range(count)]
    assert _rows.row_numbers(crow).tolist() == wanted
    assert _rows.row_numbers(crow, col.numel()).tolist() == wanted


@pytest.mark.parametrize("dtype", [taeda.int32, taeda.int64])
@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (5, 7), (40, 3), (3, 40)])
def test_turns_by_indexing_are_those_of_the_kernel(rows, columns, dtype, monkeypatch):
    crow, col = places(rows, columns, dtype)
    assert _rows.has_kernels(col)
    by_kernel = _rows.turned(crow, col, columns)
    monkeypatch.setattr(_rows, "has_kernels", lambda x: False)
    by_indexing = _rows.turned(crow, col, columns)
    assert [t.tolist() for t in by_indexing] == [t.tolist() for t in by_kernel]
