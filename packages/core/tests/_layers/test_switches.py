"""`Switches`: modes and hidden layers of a thread, switched and switched back by one call each."""

from __future__ import annotations

import pytest

import taeda
from taeda._core_api.calls import OVERRIDE, TRANSFORM
from taeda._core_api.programs import get_excluded
from taeda._core_api.runtime import Switches

BOTH = OVERRIDE | TRANSFORM


def now():
    return taeda.is_grad_enabled(), taeda.is_inference_mode_enabled(), get_excluded() & BOTH


@pytest.mark.parametrize(
    ("given", "inside"),
    [
        ({}, (True, False, 0)),
        ({"grad": False}, (False, False, 0)),
        ({"grad": False, "inference": True}, (False, True, 0)),
        ({"hide": BOTH}, (True, False, BOTH)),
        ({"hide": BOTH, "show": OVERRIDE}, (True, False, TRANSFORM)),
    ],
)
def test_it_is_as_it_was_afterwards(given, inside):
    before = now()
    with Switches(**given):
        assert now() == inside
    assert now() == before
    with pytest.raises(KeyError), Switches(**given):
        raise KeyError
    assert now() == before


def test_only_what_was_switched_comes_back():
    with Switches(hide=OVERRIDE):
        with Switches(show=OVERRIDE):
            outer = Switches(hide=TRANSFORM)
            outer.__enter__()
        assert now()[2] == BOTH
        outer.__exit__(None, None, None)
        assert now()[2] == OVERRIDE
    assert now()[2] == 0


def test_what_begins_at_once_is_noted_once():
    switches = Switches(grad=False)
    switches._begin()
    assert now()[0] is False
    with switches:
        assert now()[0] is False
    assert now()[0] is True


@pytest.mark.parametrize("given", [{"hide": "x"}, {"layers": 1}])
def test_other_arguments_are_refused(given):
    with pytest.raises(TypeError):
        Switches(**given)
