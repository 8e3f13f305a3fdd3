"""Masks and dimensions that do not fit."""

from __future__ import annotations

import pytest
from masks import MASK, X

import taeda
from taeda import masked


def test_masks_broadcast_and_may_be_numbers():
    mask = taeda.tensor([True, False, True, False])
    assert taeda.equal(masked.sum(X, 1, mask=mask), X[:, ::2].sum(1))
    assert taeda.equal(masked.sum(X, 1, mask=MASK.float()), masked.sum(X, 1, mask=MASK))
    assert masked.sum(taeda.tensor(3.0), mask=taeda.tensor(False)) == 0


@pytest.mark.parametrize(
    ("call", "error", "fact"),
    [
        (lambda: masked.sum(X, 2), IndexError, "Dimension out of range"),
        (lambda: masked.sum(X, (0, -2)), RuntimeError, "appears twice"),
        (lambda: masked.sum(X, mask=[True]), TypeError, "tensor of bools or None, but got list"),
        (lambda: masked.sum(X, mask=taeda.ones(3, 3, dtype=taeda.bool)), RuntimeError, "size"),
        (lambda: masked.softmax(X.int(), 1, mask=MASK), RuntimeError, "cannot be converted"),
    ],
)
def test_refused(call, error, fact):
    with pytest.raises(error, match=fact):
        call()
