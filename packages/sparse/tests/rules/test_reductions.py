"""Sums, means and norms."""

from __future__ import annotations

import pytest
from sparse_tensors import LAYOUTS, NUMBERS, hybrid, made, thirds

import taeda


@pytest.mark.parametrize("layout", [taeda.sparse_coo, *LAYOUTS])
def test_of_all_elements(layout):
    x = thirds(4, 6)
    a = made(x, layout)
    assert a.sum() == x.sum() and a.mean() == x.mean() and a.any()
    assert taeda.allclose(a.norm(), x.norm()) and taeda.allclose(a.norm(1), x.norm(1))


@pytest.mark.parametrize("layout", [taeda.sparse_coo, *NUMBERS])
def test_along_a_dimension_that_stays(layout):
    x = thirds(4, 6)
    a = made(x, layout)
    for dim in (0, 1):
        assert a.sum(dim, keepdim=True).layout is layout
        assert taeda.equal(a.sum(dim, keepdim=True).to_dense(), x.sum(dim, keepdim=True))
        assert taeda.allclose(a.mean(dim, keepdim=True).to_dense(), x.mean(dim, keepdim=True))


def test_along_sparse_and_dense_dimensions():
    a, x = hybrid(), hybrid().to_dense()
    for dim in (0, 1, (0, 1)):
        assert taeda.equal(a.sum(dim).to_dense(), x.sum(dim))
    with pytest.raises(RuntimeError, match="infer output dtype"):
        a.int().mean()
