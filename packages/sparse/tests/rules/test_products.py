"""Rows that multiply matrices."""

from __future__ import annotations

import pytest
from sparse_tensors import BOTH, coo, csr

import taeda
from taeda import sparse

OTHER = taeda.arange(6.0).reshape(3, 2) - 2


@pytest.mark.parametrize("make", BOTH.values(), ids=BOTH)
def test_a_product_that_is_added(make):
    bias = taeda.tensor([1.0, 2.0])
    expected = taeda.addmm(bias, make().to_dense(), OTHER, beta=2, alpha=3)
    assert taeda.equal(taeda.addmm(bias, make(), OTHER, beta=2, alpha=3), expected)
    assert taeda.equal(sparse.addmm(bias, make(), OTHER, beta=2, alpha=3), expected)
    unread = taeda.full((2,), float("nan"))
    assert not taeda.addmm(unread, make(), OTHER, beta=0).isnan().any()


def test_refused():
    with pytest.raises(RuntimeError, match=r"cannot be multiplied \(2x3 and 2x3\)"):
        coo() @ csr()
    with pytest.raises(RuntimeError, match="same dtype"):
        coo() @ OTHER.double()
    with pytest.raises(NotImplementedError, match=r"matmul.*sparse_coo"):
        coo() @ taeda.ones(2, 3, 2)
    with pytest.raises(NotImplementedError, match="dense dimensions"):
        taeda.sparse_coo_tensor([[0]], [[1.0, 2.0]], (1, 2)) @ taeda.ones(2, 1)
