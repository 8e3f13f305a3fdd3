"""Derivatives of what writes whole tensors."""

from __future__ import annotations

import pytest
from derivative_inputs import both_orders, distinct

import taeda

VIEWS = {
    "tril": lambda x: x.tril(1),
    "triu": lambda x: x.triu(-1),
    "diag_embed": lambda x: x.diag_embed(1, 0, -1),
    "diag": lambda x: taeda.diag(x, 1),
    "fill_ of a part": lambda x: _written(x, lambda y: y[1].fill_(3)),
    "copy_ into a part": lambda x: _written(x, lambda y: y[:, 1:3].copy_(x[:, :2] * x[:, 2:])),
    "zero_": lambda x: _written(x, lambda y: y[0].zero_()),
}


COMPLEX = {
    "complex": lambda z: taeda.complex(z.real, z.imag * 2),
}


def _written(x, write):
    y = x * 2
    write(y)
    return y * y


@pytest.mark.parametrize("name", VIEWS)
def test_of_one(name):
    both_orders(VIEWS[name], distinct(3, 4))


@pytest.mark.parametrize("name", COMPLEX)
def test_of_complex_numbers(name):
    z = distinct(3, 4, dtype=taeda.complex128).detach().requires_grad_()
    both_orders(COMPLEX[name], z)
