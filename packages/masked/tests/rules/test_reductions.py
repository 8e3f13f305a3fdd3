"""Reductions of masked tensors, over what counts."""

from __future__ import annotations

import pytest
from masks import MASK, REDUCTIONS, X, same_masked

import taeda
from taeda.masked import masked_tensor


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name):
    made = getattr(taeda, name)(masked_tensor(X, MASK), dim=1)
    expected = getattr(taeda.masked, name)(X, dim=1, mask=MASK)
    same_masked(made, expected, MASK.any(1))
    whole = getattr(masked_tensor(X, MASK), name)()
    same_masked(whole, getattr(taeda.masked, name)(X, mask=MASK), taeda.tensor(True))


def test_all_and_any():
    x = masked_tensor(X > 0, MASK)
    assert x.all(1).get_data().tolist() == [True, False, True]
    assert x.any(1).get_data().tolist() == [True, True, False]
    assert x.all(1).get_mask().tolist() == [True, True, False]
    assert not x.all() and x.any()
