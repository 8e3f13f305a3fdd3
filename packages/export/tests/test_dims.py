"""Names of sizes, how they depend on each other, and what they may not be."""

from __future__ import annotations

import math

import pytest

import taeda
from taeda.compiler._errors import UserError
from taeda.export import Dim, dims
from taeda.export._dims import planned


def test_formulas_of_a_dim():
    batch = Dim("batch", max=64)
    assert (batch.__name__, batch.min, batch.max) == ("batch", 0, 64)
    assert repr(3 * (batch + 1) * 2 - 1) == "6*batch + 5"
    assert repr(1 + batch - 1) == "batch"
    assert [d.max for d in dims("h", "w", min=2)] == [math.inf] * 2


@pytest.mark.parametrize(
    ("call", "error", "fact"),
    [
        (lambda: Dim("2x"), TypeError, "identifier, got '2x'"),
        (lambda: Dim("x", min=3, max=2), ValueError, "at least 3 and at most 2"),
        (lambda: Dim("x", min=-1), ValueError, "at least -1"),
        (lambda: Dim("x") * 0, NotImplementedError, "positive integers, got 0"),
        (lambda: Dim("x") * 1.5, NotImplementedError, "got 1.5"),
        (lambda: Dim("x") + 1.5, NotImplementedError, "integers are added"),
    ],
)
def test_what_no_dim_is(call, error, fact):
    with pytest.raises(error, match=fact):
        call()


def test_sizes_of_one_name_are_one_symbol():
    n = Dim("n")
    plan, symbols = planned(
        [("x", taeda.ones(4, 2), {0: n}), ("y", taeda.ones(9), (2 * n + 1,))], set()
    )
    assert len(symbols.ranges) == 1 and [len(sizes) for sizes in plan] == [2, 1]


@pytest.mark.parametrize(
    ("demand", "fact"),
    [
        ({2: Dim("n")}, "2 is no dimension of a tensor of 2"),
        ((Dim("n"),), "1 entries for a tensor of 2 dimensions"),
    ],
)
def test_demands_that_do_not_fit_are_refused(demand, fact):
    with pytest.raises(UserError, match=fact):
        planned([("x", taeda.ones(4, 2), demand)], set())
