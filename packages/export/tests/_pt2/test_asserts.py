"""Checks of programs from files, and what is no row."""

from __future__ import annotations

import pytest

import taeda
from taeda.export._pt2._asserts import (
    arguments_of,
    assert_scalar,
    assert_tensor_metadata,
    item,
    to_dtype,
)

X = taeda.ones(2, 3)


def test_conditions():
    assert_scalar(True, "no")
    with pytest.raises(RuntimeError, match="u0 is below 3"):
        assert_scalar(False, "u0 is below 3")


def test_kinds_of_tensors():
    assert_tensor_metadata(
        X, [2, 3], [3, 1], taeda.float32, device=taeda.device("cpu"), layout=taeda.strided
    )
    for wrong in (
        {"size": [3]},
        {"dtype": taeda.int64},
        {"stride": [1, 1]},
        {"device": taeda.device("meta")},
    ):
        with pytest.raises(RuntimeError, match=f"has {next(iter(wrong))} .* written for"):
            assert_tensor_metadata(X, **wrong)


def test_dtypes_and_numbers():
    assert to_dtype(X, taeda.float32) is X and to_dtype(X, taeda.int64).dtype == taeda.int64
    assert to_dtype(X, taeda.float32, copy=True) is not X
    assert item(taeda.tensor(3)) == 3 and arguments_of(item) == ["self"]
