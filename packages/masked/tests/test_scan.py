"""Sums and products up to each element."""

from __future__ import annotations

import pytest
from masks import MASK, X

import taeda
from taeda import masked


@pytest.mark.parametrize(("name", "empty"), [("cumsum", 0), ("cumprod", 1)])
def test_what_does_not_count_adds_nothing(name, empty):
    made = getattr(masked, name)(X, 1, mask=MASK)
    for row, own, found in zip(X, MASK, made, strict=True):
        assert taeda.equal(found[own], getattr(row[own], name)(0))
    assert bool((made[2] == empty).all())
    assert getattr(masked, name)(X.int(), 0).dtype is taeda.int64
    assert taeda.equal(getattr(masked, name)(X, 0), getattr(X, name)(0))
