"""Checks of programs from files, and operators that are no rows."""

from __future__ import annotations

import pytest

import taeda
import taeda.nn.functional as F
from taeda.export._pt2._operators import (
    FUNCTIONS,
    arguments_of,
    assert_scalar,
    assert_tensor_metadata,
    bilinear,
    grid_sampler,
    item,
    nearest,
    rsub,
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


def test_operators_are_the_functions_that_they_name():
    image, grid = taeda.arange(16.0).view(1, 1, 4, 4), taeda.zeros(1, 2, 2, 2)
    assert rsub(X, 3, 2).tolist() == [[1.0] * 3] * 2
    assert bilinear(image, [8, 8], False).equal(F.interpolate(image, (8, 8), mode="bilinear"))
    assert nearest(image, None, [2.0, 2.0]).equal(F.interpolate(image, scale_factor=2.0))
    assert grid_sampler(image, grid, 1, 0, True).equal(
        F.grid_sample(image, grid, "nearest", align_corners=True)
    )
    assert all(arguments_of(function) for function in FUNCTIONS.values())
