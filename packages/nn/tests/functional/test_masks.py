"""Masks of attention in one form."""

from __future__ import annotations

import pytest

import taeda
from taeda.nn.functional import _canonical_mask, _none_or_dtype


def test_bools_become_what_is_added():
    mask = taeda.tensor([True, False])
    assert _canonical_mask(mask, "m", None, "", taeda.float32).tolist() == [-float("inf"), 0.0]
    floats = taeda.tensor([1.0, 0.0])
    assert _canonical_mask(floats, "m", taeda.float32, "o", taeda.float32) is floats
    assert _canonical_mask(None, "m", None, "", taeda.float32) is None
    with pytest.warns(UserWarning, match="m and o have different dtypes"):
        _canonical_mask(floats, "m", taeda.bool, "o", taeda.float32)
    with pytest.raises(AssertionError, match="only bool and floating types of m"):
        _canonical_mask(taeda.tensor([1]), "m", None, "", taeda.float32)


def test_the_dtype_of_what_may_be_missing():
    assert _none_or_dtype(None) is None and _none_or_dtype(taeda.ones(1)) is taeda.float32
    with pytest.raises(RuntimeError, match="Tensor or None, but got int"):
        _none_or_dtype(3)
