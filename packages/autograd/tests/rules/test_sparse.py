"""Derivatives of products with matrices in compressed rows, against differences of values."""

from __future__ import annotations

import taeda
from taeda.autograd import gradcheck, gradgradcheck

CROW, COL = taeda.tensor([0, 2, 2, 3]), taeda.tensor([0, 2, 1])


def leaf(*sizes):
    made = taeda.arange(1, 1 + taeda.Size(sizes).numel(), dtype=taeda.float64).sin()
    return made.reshape(sizes).requires_grad_()


def test_product():
    inputs = leaf(3), leaf(4, 2)
    assert gradcheck(lambda v, x: taeda._csr_mm(CROW, COL, v, x), inputs)
    assert gradgradcheck(lambda v, x: taeda._csr_mm(CROW, COL, v, x), inputs)


def test_products_at_places():
    inputs = leaf(3, 2), leaf(4, 2)
    assert gradcheck(lambda a, b: taeda._csr_sampled(CROW, COL, a, b), inputs)
    assert gradgradcheck(lambda a, b: taeda._csr_sampled(CROW, COL, a, b), inputs)


def test_sparse_times_sparse():
    other = taeda.tensor([0, 1, 3, 3, 4]), taeda.tensor([1, 0, 4, 1])

    def product(a, b):
        return taeda._csr_spgemm(CROW, COL, a, *other, b, 5)[0]

    inputs = leaf(3), leaf(4)
    assert gradcheck(product, inputs, check_forward_ad=True)
    assert gradgradcheck(product, inputs)
