"""What assert_close says of sparse, nested and masked tensors."""

from __future__ import annotations

import pytest

import taeda
from taeda.testing import assert_close

X = taeda.tensor([[0.0, 1.0, 0.0], [2.0, 0.0, 3.0]])
MORE = taeda.tensor([[0.0, 1.0, 4.0], [2.0, 0.0, 3.0]])
MOVED = taeda.tensor([[1.0, 0.0, 0.0], [2.0, 0.0, 3.0]])


def jagged(*tensors):
    return taeda.nested.nested_tensor([*tensors], layout=taeda.jagged)


def batch(*tensors):
    return taeda.nested.nested_tensor([*tensors])


def masked(data, mask):
    return taeda.masked.masked_tensor(data, mask)


SAME = {
    "coo": lambda: (X.to_sparse(), X.to_sparse()),
    "repeated": lambda: (
        taeda.sparse_coo_tensor([[0, 0, 1, 1], [1, 1, 0, 2]], [0.5, 0.5, 2.0, 3.0], (2, 3)),
        X.to_sparse()),
    "csr": lambda: (X.to_sparse_csr(), X.to_sparse_csr()),
    "csc": lambda: (X.to_sparse_csc(), X.to_sparse_csc()),
    "bsr": lambda: (X.to_sparse_bsr((1, 3)), X.to_sparse_bsr((1, 3))),
    "bsc": lambda: (X.to_sparse_bsc((2, 1)), X.to_sparse_bsc((2, 1))),
    "nothing": lambda: ((X * 0).to_sparse(), (X * 0).to_sparse()),
    "a graph": lambda: (X.to_sparse().requires_grad_(), X.to_sparse()),
    "jagged": lambda: (jagged(X, X[:1]), jagged(X, X[:1])),
    "strided batch": lambda: (batch(X, X[:1, 1:]), batch(X, X[:1, 1:])),
    "masked": lambda: (masked(X, X > 0), masked(X + (X == 0), X > 0)),
}  # fmt: skip
WRONG = {
    "coo": (lambda: (X.to_sparse(), (X * 1.1).to_sparse()), "^Sparse COO values are not close!"),
    "entries": (
        lambda: (X.to_sparse(), MORE.to_sparse()),
        "^The number of specified values in sparse COO tensors does not match: 3 != 4"),
    "places": (lambda: (X.to_sparse(), MOVED.to_sparse()), "^Sparse COO indices are not equal!"),
    "csr": (lambda: (X.to_sparse_csr(), (X * 2).to_sparse_csr()), "^Sparse CSR values are not close!"),
    "csc": (lambda: (X.to_sparse_csc(), MOVED.to_sparse_csc()), "^Sparse CSC ccol_indices are not equal!"),
    "blocks": (
        lambda: (X.to_sparse_bsr((1, 3)), X.to_sparse_bsr((2, 3))),
        "^The number of specified values in sparse BSR tensors does not match: 2 != 1"),
    "layout": (lambda: (X.to_sparse(), X), "'layout' do not match"),
    "dtype": (lambda: (X.to_sparse(), X.double().to_sparse()), "'dtype' do not match"),
    "shape": (lambda: (X.to_sparse(), X.t().to_sparse()), "'shape' do not match"),
    "jagged": (lambda: (jagged(X, X[:1]), jagged(X, X[:1] + 1)), "^Tensors 1 of nested tensors are not"),
    "lengths": (lambda: (jagged(X, X[:1]), jagged(X[:1], X)), "'shape' of Tensors 0 of nested"),
    "number": (lambda: (batch(X, X[:1]), batch(X)), "number of tensors in nested tensors does not match: 2"),
    "no batch": (lambda: (taeda.ones(2, 2, 3), jagged(X, X)), "'is_nested' do not match"),
    "masks": (lambda: (masked(X, X > 0), masked(X, X > 1)), "^Masks are not equal!"),
    "masked": (lambda: (masked(X, X > 0), masked(X * 2, X > 0)), "^Values that count are not close!"),
}  # fmt: skip


@pytest.mark.parametrize("make", SAME.values(), ids=SAME)
def test_the_same(make):
    assert_close(*make())
    a, b = make()
    assert_close({"x": [a]}, {"x": [b]}, check_stride=True)


@pytest.mark.parametrize(("make", "text"), WRONG.values(), ids=WRONG)
def test_others(make, text):
    actual, expected = make()
    with pytest.raises(AssertionError, match=text):
        assert_close(actual, expected)
    with pytest.raises(AssertionError, match=r"occurred for item \['x'\]"):
        assert_close({"x": actual}, {"x": expected})


def test_checks_switched_off():
    assert_close(X.to_sparse(), X, check_layout=False)
    assert_close(X.to_sparse_csr(), X.to_sparse(), check_layout=False)
    assert_close(X.to_sparse(), X.double().to_sparse(), check_dtype=False)
    assert_close(X.to_sparse(), (X * 1.01).to_sparse(), rtol=0.1, atol=0)
    with pytest.raises(AssertionError, match="indices are not equal"):
        assert_close(X.to_sparse(), MOVED.to_sparse(), rtol=9, atol=9)
