"""Sums along dimensions, and their gradients."""

from __future__ import annotations

import pytest
from sparse_tensors import hybrid, matrix

import taeda
from taeda.autograd import gradcheck


@pytest.mark.parametrize("dim", [0, 1, -1, (0, 1)])
def test_sums_along_dimensions(dim):
    made = taeda.sparse.sum(matrix().to_sparse(), dim)
    assert taeda.equal(made.to_dense(), matrix().sum(dim))
    assert made.layout is (taeda.strided if dim == (0, 1) else taeda.sparse_coo)
    assert taeda.equal(taeda.sparse.sum(hybrid(), dim).to_dense(), hybrid().to_dense().sum(dim))


def test_gradients_of_sums():
    x = hybrid().coalesce().requires_grad_()
    assert gradcheck(lambda x: taeda.sparse.sum(x, 0) ** 2, x, masked=True)
    assert gradcheck(lambda x: taeda.sparse.sum(x, 1).to_dense() ** 2, x, masked=True)


def test_sums_want_a_sparse_tensor():
    with pytest.raises(RuntimeError, match=r"sparse\.sum expected a sparse tensor"):
        taeda.sparse.sum(matrix())
