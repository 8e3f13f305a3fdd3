"""Operators between a tensor and an array of numpy."""

from __future__ import annotations

import numpy as np
import pytest

import taeda


def test_comparisons_are_answered_element_by_element():
    x, a = taeda.tensor([1.0, 2.0, 3.0]), np.array([1.0, 0.0, 3.0])
    for made in (x == a, a == x):
        assert type(made) is taeda.Tensor and made.tolist() == [True, False, True]
    for made in (x != a, a != x):
        assert type(made) is taeda.Tensor and made.tolist() == [False, True, False]


ARRAYS = {
    "no dimension": np.array(1.0),
    "backwards": np.array([3.0, 1.0])[::-1],
    "read-only": np.broadcast_to(np.array([1.0]), (2,)),
    "the other byte order": np.array([1, 3], ">i8"),
    "another dtype": np.array([1, 3], "u1"),
    "a row": np.array([[1.0, 2.0]]),
    "a subclass": np.ma.array([1.0, 3.0]).view(type("Own", (np.ndarray,), {})),
}


@pytest.mark.parametrize("array", ARRAYS.values(), ids=ARRAYS)
def test_any_array_will_do(array):
    x = taeda.tensor([1.0, 3.0])
    wanted = np.array([1.0, 3.0]) == np.asarray(array)
    assert (x == array).tolist() == (array == x).tolist() == wanted.tolist()
    assert (x != array).tolist() == (array != x).tolist() == (~wanted).tolist()


def test_accuracy_against_an_array_of_labels():
    predicted, labels = taeda.tensor([0, 1, 2, 2]), np.array([0, 1, 1, 2])
    assert (predicted == labels).float().mean().item() == 0.75


def test_a_tensor_that_requires_grad_can_be_compared():
    x = taeda.ones(2, requires_grad=True)
    assert (x == np.ones(2)).tolist() == [True, True] and not (x == np.ones(2)).requires_grad


def test_shapes_must_broadcast():
    with pytest.raises(RuntimeError, match="broadcast"):
        _ = taeda.ones(2) == np.ones(3)


@pytest.mark.parametrize("array", [np.array(["a", "b"]), np.array([1, None]), np.zeros(2, "M8[s]")])
def test_arrays_that_are_no_numbers_are_other_objects(array):
    assert (taeda.ones(2) == array) is False and (taeda.ones(2) != array) is True


@pytest.mark.parametrize("dtype", ["int64", "float32", "float64", "bfloat16"])
def test_an_array_divided_by_a_tensor_is_a_tensor(dtype):
    x = taeda.tensor([1, 2, 4]).to(getattr(taeda, dtype))
    for array in (np.ones(3), np.ones(3, "i8"), np.array(1.0)):
        quotient = array / x
        assert type(quotient) is taeda.Tensor and quotient.dtype is taeda.float64
        assert quotient.tolist() == [1.0, 0.5, 0.25]
        assert (x / array).tolist() == [1.0, 2.0, 4.0]


def test_a_tensor_in_a_graph_does_not_divide_an_array():
    with pytest.raises(RuntimeError, match="detach"):
        _ = np.ones(2) / taeda.ones(2, requires_grad=True)
    with pytest.raises(TypeError, match="unsupported operand"):
        _ = np.array([1, None]) / taeda.ones(2)
