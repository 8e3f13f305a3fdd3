from __future__ import annotations

import math
import random

import pytest

import taeda


@pytest.mark.parametrize(
    "function",
    [
        lambda x: taeda.sin(x),
        lambda x: x.sin(),
        lambda x: x * math.sqrt(4),
        lambda x: x * max([1, 2]),
        lambda x: x * (getattr(x, "nothing", 2)),
        lambda x: x if hasattr(x, "shape") else -x,
        lambda x: [x].copy(),
        lambda x: list(map(x.mul, [1, 2])),
        lambda x: "{}".format(3) and x,  # noqa: UP032 - the method of a string is what is called
    ],
)
def test_functions_that_read_their_arguments_only(watch, function):
    observer, _ = watch(function, taeda.ones(2))
    assert observer.active, observer.reason


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda x: x * random.random(), "random"),
        (lambda x: x.data_ptr(), "it reads Tensor.data_ptr"),
        (lambda x: taeda.Tensor.data_ptr(x), "it calls Tensor.data_ptr"),
        (lambda x: open(__file__).close(), "it calls"),
    ],
)
def test_functions_that_read_more(watch, function, reason):
    observer, _ = watch(function, taeda.ones(2))
    assert reason in observer.reason


def test_methods_that_change_an_old_container(watch):
    kept = []
    observer, _ = watch(lambda x: kept.append(1), taeda.ones(2))
    assert observer.reason == "it calls append of a container that was there before"
    assert kept == [1]


def test_a_key_function_is_observed(watch):
    order = {1: 2, 2: 1}
    observer, result = watch(lambda x: sorted([1, 2], key=lambda n: order[n]), taeda.ones(1))
    assert (observer.reason, result) == ("", [2, 1])
    order[1] = 0
    assert not observer.guards.compiled()[0]()
