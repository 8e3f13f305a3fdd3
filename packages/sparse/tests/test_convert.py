"""From strided to sparse and back, and from one layout to another."""

from __future__ import annotations

import pytest
from sparse_tensors import DENSE

import taeda


def test_there_and_back():
    dense = taeda.tensor(DENSE)
    assert dense.to_sparse().is_coalesced()
    assert taeda.equal(dense.to_sparse().to_dense(), dense)
    assert taeda.equal(dense.to_sparse_csr().to_dense(), dense)
    assert taeda.equal(dense.to_sparse_csr().to_sparse_coo().to_dense(), dense)
    assert taeda.equal(dense.to_sparse(layout=taeda.sparse_csr).to_dense(), dense)
    rows = dense.to_sparse(1)
    assert (rows.sparse_dim(), rows.dense_dim()) == (1, 1)
    assert taeda.equal(rows.to_dense(), dense)


@pytest.mark.parametrize("number", [0.0, 2.0])
def test_numbers_without_dimensions(number):
    x = taeda.tensor(number)
    assert taeda.equal(x.to_sparse().to_dense(), x)


def test_conversion_has_gradients():
    dense = taeda.tensor(DENSE, requires_grad=True)
    (dense.to_sparse() * 2).to_dense().sum().backward()
    assert dense.grad.tolist() == [[0.0, 0.0, 2.0], [2.0, 0.0, 2.0]]
