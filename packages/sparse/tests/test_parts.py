"""Parts of sparse tensors: their bounds, one entry for each place, their end."""

from __future__ import annotations

import pytest
from sparse_tensors import coo

import taeda


def test_indices_that_are_written_later_are_checked_again():
    x = coo()
    indices = x._indices()
    indices[0, 0] = 7
    for use in (x.to_dense, x.coalesce, lambda: x @ taeda.ones(3, 1), lambda: x * 2):
        with pytest.raises(RuntimeError, match="index 7"):
            use()
    indices[0, 0] = 1
    assert x.to_dense().tolist() == [[0.0, 0.0, 0.0], [5.0, 0.0, 8.0]]


def test_columns_that_are_written_later_are_checked_again():
    x = coo().to_sparse_csr()
    x.col_indices()[0] = 7
    with pytest.raises(RuntimeError, match="col_indices must be from 0 to 2"):
        x @ taeda.ones(3, 1)


def test_coalesce():
    x = coo().coalesce()
    assert x.is_coalesced() and x.coalesce() is x
    assert x.indices().tolist() == [[0, 1, 1], [2, 0, 2]]
    assert x.values().tolist() == [3.0, 5.0, 5.0]


def test_objects_die_alone():
    import gc
    import weakref

    x = coo().requires_grad_()
    y = (x @ taeda.ones(3, 1)).sum()
    y.backward()
    x.own = x
    died = weakref.ref(x)
    del x, y
    gc.collect()
    assert died() is None
