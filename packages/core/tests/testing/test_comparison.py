"""assert_close: what is close, and what it says when something is not."""

from __future__ import annotations

import math

import numpy as np
import pytest

import taeda
from taeda.testing import assert_close

t = taeda.tensor
NAN = math.nan

CLOSE = [
    (t([1.0, 2.0]), t([1.0, 2.0 + 1e-6]), {}),
    (t([0.0]), t([1e-9]), {}),
    (t([NAN]), t([NAN]), {"equal_nan": True}),
    (t([math.inf]), t([math.inf]), {}),
    (t([1.0]), t([1.4]), {"rtol": 0, "atol": 0.5}),
    (t([1]), t([1.0]), {"check_dtype": False}),
    (taeda.zeros(0), taeda.zeros(0), {}),
    (taeda.ones(2, device="meta"), taeda.ones(2, device="meta"), {}),
    (t([1.0]).to(taeda.bfloat16), t([1.01]).to(taeda.bfloat16), {}),
    (t([1.0]).to(taeda.float8_e5m2), t([1.0]).to(taeda.float8_e5m2), {}),
    (t([1 + 1j]), t([1 + 1j]), {}),
    (1.0, 1.0 + 1e-9, {}),
    (None, None, {}),
    ((1, [2.0]), [1, (2.0,)], {}),
    ({"a": t([1.0])}, {"a": t([1.0])}, {}),
    (np.ones(2), np.ones(2), {}),
    (np.float32(1), np.float32(1), {}),
    ([], [], {}),
]


@pytest.mark.parametrize(("actual", "expected", "options"), CLOSE, ids=range(len(CLOSE)))
def test_close(actual, expected, options):
    assert_close(actual, expected, **options)


def text_of(actual, expected, **options):
    with pytest.raises(AssertionError) as caught:
        assert_close(actual, expected, **options)
    return str(caught.value)


def test_message_of_tensors():
    assert text_of(t([[0.0, 1.0], [2.0, 3.0]]), t([[0.0, 1.0], [2.0, 30.0]])) == (
        "Tensor-likes are not close!\n\n"
        "Mismatched elements: 1 / 4 (25.0%)\n"
        "Greatest absolute difference: 27.0 at index (1, 1) (up to 1e-05 allowed)\n"
        "Greatest relative difference: 0.8999999761581421 at index (1, 1) (up to 1.3e-06 allowed)"
    )


def test_message_of_integers_has_no_tolerance():
    assert text_of(t([1, 2]), t([1, 4])) == (
        "Tensor-likes are not equal!\n\n"
        "Mismatched elements: 1 / 2 (50.0%)\n"
        "Greatest absolute difference: 2 at index (1,)\n"
        "Greatest relative difference: 0.5 at index (1,)"
    )


def test_differences_of_integers_do_not_overflow():
    assert f"difference: {2**63}" in text_of(t([2**62]), t([-(2**62)]))


def test_message_of_numbers_and_of_zero_dim_tensors():
    text = (
        "Scalars are not close!\n\nExpected 2.0 but got 1.0.\n"
        "Absolute difference: 1.0 (up to {} allowed)\nRelative difference: 0.5 (up to {} allowed)"
    )
    assert text_of(1.0, 2.0) == text.format("1e-07", "1e-07")
    assert text_of(t(1.0), t(2.0)) == text.format("1e-05", "1.3e-06")


def test_nan_is_the_greatest_difference():
    assert "difference: nan at index (1,)" in text_of(t([9.0, NAN]), t([1.0, 1.0]))


@pytest.mark.parametrize(
    ("actual", "expected", "fact"),
    [
        (t([1.0]), t([[1.0]]), "'shape'"),
        (t([1.0]), t([1]), "'dtype'"),
        (t([1.0]), taeda.ones(1, device="meta"), "'device'"),
        (1, 1.0, "(d)types"),
        (True, 1, "(d)types"),
        (True, False, "Booleans mismatch"),
        (None, 1, "None mismatch"),
        ([1], [1, 2], "1 != 2"),
        ({"a": 1}, {"b": 1}, "Missing keys in the actual mapping: ['b']"),
    ],
    ids=str,
)
def test_attributes_and_containers(actual, expected, fact):
    assert fact in text_of(actual, expected)


def test_strides_are_compared_on_request():
    a, b = taeda.ones(2, 3), taeda.ones(3, 2).t()
    assert_close(a, b)
    assert "'stride()'" in text_of(a, b, check_stride=True)


def test_the_place_in_containers_is_named():
    text = text_of({"x": [1, {"y": 2}]}, {"x": [1, {"y": 3}]})
    assert text.endswith("The failure occurred for item ['x'][1]['y']")


def test_own_messages():
    assert text_of(1, 2, msg="mine") == "mine"
    assert text_of(1, 2, msg=lambda text: "mine: " + text).startswith("mine: Scalars")


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        ("a", "a"),
        (t([1.0]), [1.0]),
        (t([1.0]), np.ones(1)),
        (t([1.0]), 1.0),
        ({1}, {1}),
        (object(), object()),
    ],
    ids=lambda v: type(v).__name__,
)
def test_types_that_cannot_be_compared(actual, expected):
    with pytest.raises(TypeError, match="No comparison pair"):
        assert_close(actual, expected)


def test_subclasses_are_compared_unless_forbidden():
    class Sub(taeda.Tensor):
        pass

    assert_close(t([1.0]).as_subclass(Sub), t([1.0]))
    with pytest.raises(TypeError, match="Sub"):
        assert_close(t([1.0]).as_subclass(Sub), t([1.0]), allow_subclasses=False)


@pytest.mark.parametrize("options", [{"rtol": 1e-3}, {"atol": 1e-3}], ids=str)
def test_one_tolerance_alone_is_refused(options):
    with pytest.raises(ValueError, match="Both 'rtol' and 'atol'"):
        assert_close(1.0, 1.0, **options)


def test_the_older_form_is_looser_and_warns():
    from taeda.testing import assert_allclose

    with pytest.warns(FutureWarning, match="use taeda.testing.assert_close"):
        assert_allclose(taeda.tensor([1.0, float("nan")]), [1.00005, float("nan")])
    with pytest.warns(FutureWarning):
        assert_allclose(taeda.ones(2), taeda.ones(2, dtype=taeda.float64))
    with pytest.warns(FutureWarning), pytest.raises(AssertionError, match="far off"):
        assert_allclose([1.0], [1.1], msg="far off")
    with pytest.warns(FutureWarning), pytest.raises(AssertionError):
        assert_allclose([1, 2], [1, 3])
