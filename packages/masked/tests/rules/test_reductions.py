"""Reductions of masked tensors, over what counts."""

from __future__ import annotations

import pytest
from masks import MASK, REDUCTIONS, X, same_masked

import taeda
from taeda.masked import masked_tensor


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name):
    more = {"mask": MASK, **({"dtype": taeda.int64} if name.startswith("arg") else {})}
    made = getattr(taeda, name)(masked_tensor(X, MASK), dim=1)
    expected = getattr(taeda.masked, name)(X, dim=1, **more)
    same_masked(made, expected, MASK.any(1))
    whole = getattr(masked_tensor(X, MASK), name)()
    same_masked(whole, getattr(taeda.masked, name)(X, **more), taeda.tensor(True))


@pytest.mark.parametrize("name", ["var", "std"])
def test_the_spread_of_complex_numbers_is_real(name):
    x = taeda.complex(X, X.flip(1))
    made = getattr(masked_tensor(x, MASK), name)()
    assert made.dtype is taeda.float64
    assert taeda.allclose(made.get_data(), getattr(x[MASK], name)())


def test_all_and_any():
    x = masked_tensor(X > 0, MASK)
    assert x.all(1).get_data().tolist() == [True, False, True]
    assert x.any(1).get_data().tolist() == [True, True, False]
    assert x.all(1).get_mask().tolist() == [True, True, False]
    assert not x.all() and x.any()


@pytest.mark.parametrize("number", [0, 1.5, True])
def test_a_number_in_where_counts(number):
    data = taeda.tensor([1.0, 2.0, 3.0])
    x = taeda.masked.masked_tensor(data, taeda.tensor([True, False, True]))
    chosen = taeda.tensor([True, True, False])
    made = taeda.where(chosen, x, number)
    assert made.get_mask().tolist() == [True, False, True]
    assert made.get_data()[2].item() == number
    turned = taeda.where(chosen, number, x)
    assert turned.get_mask().tolist() == [True, True, True]
    assert turned.get_data().tolist() == [number, number, 3.0]
