"""Softmax and vectors of length 1, over what counts."""

from __future__ import annotations

import pytest
from masks import MASK, X

import taeda
from taeda import masked

SOFT = {
    "softmax": (lambda row: row.softmax(0), 0.0),
    "log_softmax": (lambda row: row.log_softmax(0), -float("inf")),
    "softmin": (lambda row: (-row).softmax(0), 0.0),
}


@pytest.mark.parametrize("name", SOFT)
def test_rows_are_those_of_what_counts(name):
    plain, empty = SOFT[name]
    made = getattr(masked, name)(X, 1, mask=MASK)
    for row, own, found in zip(X[:2], MASK, made, strict=False):
        assert taeda.allclose(found[own], plain(row[own])) and bool((found[~own] == empty).all())
    assert made[2].isnan().all()
    assert taeda.allclose(getattr(masked, name)(X, 1), taeda.stack([plain(row) for row in X]))


def test_vectors_of_length_1():
    made = masked.normalize(X, 2.0, 1, mask=MASK)
    assert taeda.allclose(made.norm(dim=1), taeda.tensor([1.0, 1.0, 0.0]).double())
    assert not made[~MASK].any()
    assert taeda.allclose(masked.normalize(X, 1.0, 0), taeda.nn.functional.normalize(X, 1.0, 0))


@pytest.mark.parametrize("name", SOFT)
@pytest.mark.parametrize("dtype", [taeda.int64, taeda.bool, taeda.complex64])
def test_only_floats_are_normalised(name, dtype):
    x = X.to(dtype)
    with pytest.raises(NotImplementedError, match="pass floats"):
        getattr(masked, name)(x, 1, mask=MASK)
    if dtype is not taeda.complex64:
        made = getattr(masked, name)(x, 1, mask=MASK, dtype=taeda.float64)
        wanted = getattr(masked, name)(x.double(), 1, mask=MASK)
        assert taeda.equal(made[:2], wanted[:2])
