"""Shapes and orders of elements, against numpy."""

from __future__ import annotations

import pytest
from array_api_cases import cases_of, check, plain_of

import taeda
from taeda import array_api


@pytest.mark.parametrize(("dtype", "text"), cases_of("manipulation") + plain_of("manipulation"))
@pytest.mark.filterwarnings("ignore")
def test_same_as_numpy(dtype, text):
    check(dtype, text)


def test_new_axes_are_places_of_the_result():
    x = taeda.zeros(2, 3)
    for axis in ((0, 0), (1, -3)):
        with pytest.raises(ValueError, match="names an axis twice"):
            array_api.expand_dims(x, axis=axis)
    for axis in (3, -4, (0, 4), (-5, 0)):
        with pytest.raises(IndexError):
            array_api.expand_dims(x, axis=axis)


def test_shapes_without_a_common_one():
    with pytest.raises(ValueError, match="broadcast_shapes"):
        array_api.broadcast_shapes((2,), (3,))
    made = array_api.broadcast_arrays(taeda.zeros(2, 1), taeda.zeros(3))
    assert isinstance(made, tuple) and made[0].shape == (2, 3)
