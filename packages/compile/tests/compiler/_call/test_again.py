"""The program once more: only while it is still the one that the graph computed."""

from __future__ import annotations

import pytest

import taeda
from taeda.compiler._call.again import Again


class Traced:
    def __init__(self):
        self.still = True

    def holds(self):
        return self.still


def scaled(x, *, by):
    return x * by


def test_it_calls_the_program_with_what_the_call_was_given():
    again = Again(scaled, (taeda.ones(2),), {"by": 3}, Traced())
    assert again([]).tolist() == [3, 3]


def test_it_holds_as_long_as_the_guards_do():
    trace = Traced()
    again = Again(scaled, (), {}, trace)
    assert again.holds()
    trace.still = False
    assert not again.holds()


def test_another_default_dtype_is_another_program():
    again = Again(scaled, (), {}, Traced())
    taeda.set_default_dtype(taeda.float64)
    try:
        assert not again.holds()
    finally:
        taeda.set_default_dtype(taeda.float32)
    assert again.holds()


@pytest.mark.parametrize("inside", [True, False])
def test_a_region_of_autocast_belongs_to_the_program(inside):
    region = taeda.autocast("cpu", dtype=taeda.bfloat16, enabled=inside)
    x = taeda.ones(2, 2)
    with region:
        again = Again(lambda: x @ x, (), {}, Traced())
    assert again([]).dtype == (taeda.bfloat16 if inside else taeda.float32)


def test_a_program_from_outside_does_not_hold_in_a_region():
    again = Again(scaled, (), {}, Traced())
    with taeda.autocast("cpu", dtype=taeda.bfloat16):
        assert not again.holds()
