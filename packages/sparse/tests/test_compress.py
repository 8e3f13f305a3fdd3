"""Each layout becomes each other."""

from __future__ import annotations

import itertools

import pytest
from sparse_tensors import BLOCKS, LAYOUTS, made, thirds

import taeda
from taeda.autograd import gradcheck


@pytest.mark.parametrize(("first", "second"), [*itertools.product(LAYOUTS, repeat=2)])
def test_each_becomes_each_other(first, second):
    x = thirds(4, 6)
    other = made(made(x, first), second)
    assert other.layout is second and taeda.equal(other.to_dense(), x)
    assert taeda.equal(other.to_sparse_coo().to_dense(), x)
    assert other.to_sparse_coo().is_coalesced()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_batches_with_dense_dimensions(layout):
    x = thirds(4, 6, 2)
    x = taeda.stack([x, 2 * x, 3 * x])
    block = (2, 3) if layout in BLOCKS else None
    sparse = x.to_sparse(layout=layout, blocksize=block, dense_dim=1)
    assert (sparse.sparse_dim(), sparse.dense_dim()) == (2, 1)
    assert taeda.equal(sparse.to_dense(), x)
    assert taeda.equal(sparse[1].to_dense(), x[1])
    assert sparse[1].layout is layout
    assert taeda.equal((sparse * 2).sin().to_dense(), (x * 2).sin())


def test_batches_must_have_the_same_number_of_entries():
    with pytest.raises(RuntimeError, match=r"same number of entries, but they have from 1 to 4"):
        taeda.stack([taeda.ones(2, 2), taeda.tensor([[1.0, 0], [0, 0]])]).to_sparse_csr()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_gradients_of_conversions(layout):
    x = thirds(4, 6).requires_grad_()
    (made(x, layout).to_dense() * taeda.arange(24.0).reshape(4, 6)).sum().backward()
    stored = made(taeda.ones(4, 6), layout) if layout in BLOCKS else made(x.detach() != 0, layout)
    assert taeda.equal(x.grad, taeda.arange(24.0).reshape(4, 6).double() * stored.to_dense())
    y = made(thirds(4, 6), layout).requires_grad_()
    assert gradcheck(lambda y: y.to_sparse_coo().to_dense(), y, masked=True)
    assert gradcheck(lambda y: (y @ taeda.ones(6, 2, dtype=y.dtype)).sin(), y, masked=True)
    assert gradcheck(lambda y: y.t().to_sparse_csr().to_dense() ** 2, y, masked=True)


@pytest.mark.parametrize("dtype", [taeda.int32, taeda.int64])
def test_rows_and_columns_keep_the_dtype_of_indices(dtype):
    x = taeda.tensor([[0.0, 2.0, 3.0], [4.0, 0.0, 5.0]])
    rows = x.to_sparse_csr()
    rows = taeda.sparse_csr_tensor(
        rows.crow_indices().to(dtype), rows.col_indices().to(dtype), rows.values(), (2, 3)
    ).requires_grad_()
    columns = rows.to_sparse_csc()
    assert columns.ccol_indices().dtype is columns.row_indices().dtype is dtype
    assert taeda.equal(columns.to_dense(), x)
    back = columns.to_sparse_csr()
    assert back.col_indices().tolist() == rows.col_indices().tolist()
    (2 * back).to_dense().sum().backward()
    assert rows.grad.values().tolist() == [2.0] * 4
