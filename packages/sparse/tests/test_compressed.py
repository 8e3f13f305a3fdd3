"""Tensors by compressed rows and columns: with blocks, batches and dense dimensions, between each other."""

from __future__ import annotations

import pytest
from sparse_tensors import LAYOUTS, made, thirds

import taeda


@pytest.mark.parametrize("layout", LAYOUTS)
def test_transposed_is_the_other_layout_with_the_same_indices(layout):
    x = made(thirds(4, 6), layout)
    turned = x.t()
    assert turned.layout is not layout and turned.shape == (6, 4)
    assert taeda.equal(turned.to_dense(), x.to_dense().t())
    assert taeda.equal(x.transpose(-1, 0).to_dense(), x.to_dense().t())
    assert taeda.equal(x.permute(1, 0).to_dense(), x.to_dense().t())
    assert turned.t().layout is layout


@pytest.mark.parametrize("layout", LAYOUTS)
def test_products(layout):
    x, dense = thirds(4, 6), taeda.arange(12.0).reshape(6, 2).double()
    sparse = made(x, layout)
    assert taeda.allclose(sparse @ dense, x @ dense)
    assert taeda.allclose(sparse.mv(dense[:, 0]), x.mv(dense[:, 0]))
    assert taeda.allclose(dense.t() @ sparse.t(), dense.t() @ x.t())
    assert taeda.allclose((sparse @ sparse.t()).to_dense(), x @ x.t())


@pytest.mark.parametrize("layout", LAYOUTS)
def test_sums_and_products_of_two(layout):
    x, y = thirds(4, 6), thirds(6, 4).t().contiguous()
    a, b = made(x, layout), made(y, layout)
    assert (a + b).layout is layout and taeda.equal((a + b).to_dense(), x + y)
    assert (a * b).layout is layout and taeda.equal((a * b).to_dense(), x * y)
    assert taeda.equal((a - b).to_dense(), x - y)
    assert taeda.equal(a + y, x + y)
    assert taeda.equal((a * y).to_dense(), x * y)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_it_is_copied_and_saved_as_it_is(layout, tmp_path):
    a = made(thirds(4, 6), layout)
    taeda.save({"a": a}, tmp_path / "a.pt")
    again = taeda.load(tmp_path / "a.pt")["a"]
    for other in (again, a.clone(), a.float().double(), a.detach()):
        assert other.layout is layout and taeda.equal(other.to_dense(), a.to_dense())
    assert taeda.zeros_like(a)._nnz() == 0 and taeda.zeros_like(a).layout is layout


@pytest.mark.parametrize("layout", LAYOUTS)
def test_indices_that_somebody_writes_into_are_looked_at_again(layout):
    given = made(thirds(4, 6), layout)
    first, second = (getattr(given, name) for name in _names(layout))
    plain = second().clone()
    x = taeda.sparse_compressed_tensor(first(), plain, given.values(), (4, 6), layout=layout)
    plain[0] = 100
    with pytest.raises(RuntimeError, match="must be from 0 to"):
        x.to_dense()


def _names(layout):
    rows = ("crow_indices", "col_indices")
    columns = ("ccol_indices", "row_indices")
    return rows if layout in (taeda.sparse_csr, taeda.sparse_bsr) else columns
