"""Elementwise operators of masked tensors: data and mask beside plain ones."""

from __future__ import annotations

import pytest
from masks import BINARY, INTEGER, MASK, NOT_IN_PLACE, UNARY, X, same_masked

import taeda
from taeda.masked import masked_tensor


@pytest.mark.parametrize("name", UNARY)
def test_unary(name):
    x = X.abs() / 7
    made = getattr(taeda, name)(masked_tensor(x, MASK))
    same_masked(made, getattr(taeda, name)(x), MASK)
    if name not in NOT_IN_PLACE:
        written = masked_tensor(x, MASK)
        assert getattr(written, f"{name}_")() is written
        same_masked(written, getattr(taeda, name)(x), MASK)


def test_unary_with_more():
    same_masked(masked_tensor(X, MASK).clamp(0, 2), X.clamp(0, 2), MASK)
    same_masked(taeda.clip(masked_tensor(X, MASK), max=1), X.clip(max=1), MASK)
    same_masked(masked_tensor(X, MASK) ** 2, X**2, MASK)
    same_masked(~masked_tensor(X > 0, MASK), ~(X > 0), MASK)


@pytest.mark.parametrize("name", BINARY)
def test_binary(name):
    function, y = getattr(taeda, name), X.flip(1) + 0.5
    for other in (masked_tensor(y, MASK.clone()), y):
        same_masked(function(masked_tensor(X, MASK), other), function(X, y), MASK)


@pytest.mark.parametrize("name", INTEGER)
def test_binary_of_integers(name):
    x = X.abs().to(taeda.int64)
    made = getattr(taeda, name)(masked_tensor(x, MASK), masked_tensor(x.flip(1), MASK))
    same_masked(made, getattr(taeda, name)(x, x.flip(1)), MASK)
