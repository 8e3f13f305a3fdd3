"""Instances are taken apart and put together without their classes' code."""

from __future__ import annotations

import enum
from collections import namedtuple

import pytest

from taeda._io import safetypes


@pytest.fixture(autouse=True)
def _none_allowed_afterwards():
    yield
    safetypes.clear()


class Loud:
    def __init__(self):
        raise AssertionError("called")

    __new__ = __setattr__ = __setstate__ = __getattribute__ = __init__


class Base:
    __slots__ = ("a", "unset")


class Mixed(Base):
    pass


Color = enum.IntFlag("Color", "RED GREEN")
Pair = namedtuple("Pair", "x y")


def test_no_method_is_called():
    made = safetypes.restore(Loud, {"x": 1})
    assert object.__getattribute__(made, "__dict__") == {"x": 1}


def test_slots_and_attributes():
    value = Mixed()
    value.a, value.b = 1, 2
    state = safetypes.state_of(value)
    assert state == {"a": 1, "b": 2}
    made = safetypes.restore(Mixed, state)
    assert (made.a, made.b, hasattr(made, "unset")) == (1, 2, False)


def test_enums_and_named_tuples():
    for value in (Color.GREEN, Pair(1, [2])):
        made = safetypes.restore(type(value), safetypes.state_of(value))
        assert made == value
        assert type(made) is type(value)


def test_what_has_no_fields_is_refused():
    with pytest.raises(TypeError, match="from data alone"):
        safetypes.state_of(iter([]))


def test_names():
    safetypes.add([Pair, (Base, "old.Base"), len])
    assert safetypes.name_of(Pair) == f"{__name__}.Pair"
    assert safetypes.type_named("old.Base") is Base
    assert safetypes.type_named("os.system") is None
    assert safetypes.listed() == [Pair, (Base, "old.Base"), len]
    safetypes.clear()
    assert safetypes.listed() == []
    assert safetypes.name_of(Pair) is None
