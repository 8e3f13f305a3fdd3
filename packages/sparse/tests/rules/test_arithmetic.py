"""Sums and products element by element, where samples of the op table do not reach."""

from __future__ import annotations

import pytest
from sparse_tensors import BOTH, DENSE, coo, csr

import taeda


@pytest.mark.parametrize("make", BOTH.values(), ids=BOTH)
def test_numbers(make):
    dense = taeda.tensor(DENSE)
    for by in (2, 2.5, taeda.tensor(3.0)):
        assert taeda.equal((make() * by).to_dense(), dense * by)
        assert taeda.equal((by * make()).to_dense(), dense * by)
        assert taeda.allclose((make() / by).to_dense(), dense / by)
    assert taeda.equal((-make()).to_dense(), -dense)
    for refused in (
        lambda: make() + 1,
        lambda: 1 - make(),
        lambda: 1 / make(),
        lambda: make() / dense,
    ):
        with pytest.raises(NotImplementedError, match="no kernel for a tensor of layout"):
            refused()


@pytest.mark.parametrize("make", BOTH.values(), ids=BOTH)
def test_gradients_of_sums_and_products(make):
    other = taeda.arange(6.0).reshape(2, 3)
    for run in (
        lambda x: x * 3 + x,
        lambda x: x - x * 2,
        lambda x: x * other,
        lambda x: x * x,
        lambda x: other + x,
        lambda x: x.sin(),
    ):
        x, dense = make().requires_grad_(), taeda.tensor(DENSE, requires_grad=True)
        run(x).to_dense().square().sum().backward()
        run(dense).square().sum().backward()
        there = taeda.tensor(DENSE) != 0
        assert taeda.allclose(x.grad.to_dense(), dense.grad * there)


def test_columns_spread_and_the_product_stays_sparse():
    made = taeda.ones(100_000, 1) * taeda.sparse_coo_tensor([[5], [7]], [2.0], (100_000, 100_000))
    assert made.layout is taeda.sparse_coo and made._nnz() == 1


def test_what_is_sparse_is_not_spread():
    with pytest.raises(RuntimeError, match="not broadcast"):
        coo() * taeda.ones(4, 2, 3)
    with pytest.raises(RuntimeError, match="not broadcast"):
        coo() + taeda.sparse_coo_tensor((1, 3))


def test_layouts_meet():
    assert (coo() + csr()).layout is taeda.sparse_coo
    assert taeda.equal((csr() + csr()).to_dense(), 2 * taeda.tensor(DENSE))
    assert (csr() + csr()).layout is taeda.sparse_csr


@pytest.mark.parametrize("recorded", [False, True])
def test_a_sum_of_coalesced_tensors_is_coalesced(recorded):
    a = taeda.tensor([[0.0, 1.0], [2.0, 0.0]]).to_sparse().requires_grad_(recorded)
    b = taeda.tensor([[0.0, 5.0], [0.0, 7.0]]).to_sparse()
    for made, wanted in ((a + b, [6.0, 2.0, 7.0]), (b - a, [4.0, -2.0, 7.0]), (a + a, [2.0, 4.0])):
        assert made.is_coalesced()
        assert made.values().tolist() == wanted
    if recorded:
        (a + b).to_dense().square().sum().backward()
        assert a.grad.to_dense().tolist() == [[0.0, 12.0], [4.0, 0.0]]
    repeated = taeda.sparse_coo_tensor([[0, 0], [1, 1]], [1.0, 2.0], (2, 2))
    assert not (repeated + b).is_coalesced()
    assert (repeated + b)._nnz() == 4


def test_one_entry_repeats_no_place():
    for x in (
        taeda.sparse_coo_tensor([[0], [1]], [1.0], (2, 2)),
        taeda.sparse_coo_tensor(size=(2, 2)),
        taeda.sparse_coo_tensor(taeda.zeros(2, 0, dtype=taeda.int64), taeda.zeros(0), (2, 2)),
        taeda.sparse_coo_tensor([[1, 0], [0, 1]], [1.0, 2.0], (2, 2))[1],
    ):
        assert x.is_coalesced()
        assert x.indices().shape[1] == x.values().shape[0] < 2
