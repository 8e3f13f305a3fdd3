"""Softmax over the entries that there are."""

from __future__ import annotations

import pytest
from sparse_tensors import hybrid, matrix

import taeda
from taeda.autograd import gradcheck


def _softmax_of_entries(x, dim, is_log):
    """Places without an entry are minus infinity."""
    dense = x.to_dense().masked_fill(taeda.zeros_like(x.to_dense()) == x.to_dense(), -float("inf"))
    made = taeda.log_softmax(dense, dim) if is_log else taeda.softmax(dense, dim)
    return made.masked_fill(x.to_dense() == 0, 0)


@pytest.mark.parametrize("is_log", [False, True])
@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("layout", [taeda.sparse_coo, taeda.sparse_csr, taeda.sparse_csc])
def test_softmax_over_the_entries(layout, dim, is_log):
    function = taeda.sparse.log_softmax if is_log else taeda.sparse.softmax
    x = matrix().to_sparse(layout=layout)
    made = function(x, dim)
    assert made.layout is layout
    assert taeda.allclose(made.to_dense(), _softmax_of_entries(x, dim, is_log))
    own = x.requires_grad_()
    assert gradcheck(lambda x: function(x, dim), own, masked=True)


@pytest.mark.parametrize("dim", [0, 1, 2])
@pytest.mark.parametrize("is_log", [False, True])
def test_softmax_along_sparse_dimensions_of_a_hybrid(dim, is_log):
    function = taeda.sparse.log_softmax if is_log else taeda.sparse.softmax
    plain = taeda.softmax if not is_log else taeda.log_softmax
    taeda.manual_seed(0)
    places = taeda.tensor([[0, 0, 1, 1, 2], [1, 3, 0, 1, 1], [2, 0, 1, 1, 2]])
    x = taeda.sparse_coo_tensor(places, taeda.randn(5, 2, dtype=taeda.float64), (3, 4, 3, 2))
    there = taeda.sparse_coo_tensor(places, taeda.ones(5, 2), x.shape).to_dense() > 0
    wanted = plain(x.to_dense().masked_fill(~there, -float("inf")), dim).masked_fill(~there, 0)
    assert taeda.allclose(function(x, dim).to_dense(), wanted)
    assert gradcheck(lambda x: function(x, dim), x.requires_grad_(), masked=True)


def test_softmax_of_sixteen_bits_and_of_no_entries():
    x = taeda.tensor([[1.0, 2.0, 0.0], [0.0, 0.0, 3.0]])
    for layout in (taeda.sparse_coo, taeda.sparse_csr):
        made = taeda.sparse.softmax(x.to_sparse(layout=layout).half(), 1)
        assert made.dtype is taeda.float16 and made.to_dense()[1, 2] == 1
        assert taeda.sparse.softmax((x * 0).to_sparse(layout=layout), 1)._nnz() == 0


def test_softmax_along_a_dense_dimension():
    made = taeda.sparse.softmax(hybrid(), 1)
    wanted = hybrid().coalesce().values().softmax(1)
    assert taeda.allclose(made.values(), wanted)


def test_softmax_of_a_row_without_finite_entries_and_of_none():
    x = taeda.sparse_coo_tensor([[0, 0], [0, 1]], [-float("inf"), 1.0], (1, 2))
    assert taeda.sparse.softmax(x, 1).to_dense().tolist() == [[0.0, 1.0]]
    assert taeda.sparse.softmax(taeda.sparse_coo_tensor((2, 2)), 1)._nnz() == 0
    with pytest.raises(IndexError, match="Dimension out of range"):
        taeda.sparse.softmax(x, 2)
    with pytest.raises(RuntimeError, match="floating point"):
        taeda.sparse.softmax(x.int(), 1)
