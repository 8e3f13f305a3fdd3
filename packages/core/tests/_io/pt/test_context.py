"""What making an object depends on."""

from __future__ import annotations

import dataclasses

import pytest

from taeda._io.budget import Budget
from taeda._io.place import Place
from taeda._io.pt.context import Context, Known, StorageType, want
from taeda._io.pt.errors import RefusedPickle


def test_keys_spend_from_the_budget_of_the_pickle():
    budget = Budget(100)
    context = Context(budget, Place(None))
    assert context.keys.budget is budget and context.persistent is None


def test_names_are_told_apart_and_cannot_be_changed():
    assert StorageType("FloatStorage", None) == StorageType("FloatStorage", None)
    for one in (Known("x", print), StorageType("x", None)):
        with pytest.raises(dataclasses.FrozenInstanceError):
            one.name = "y"


def test_arguments_have_the_types_that_are_wanted():
    assert want((1, "a"), (int, (str, bytes)), "a pair") == (1, "a")
    for given, told in (
        ((1,), "int"),
        ((1, 2), "int, int"),
        ((), ""),
        ((1, "a", None), "NoneType"),
    ):
        with pytest.raises(RefusedPickle, match=rf"a pair cannot be made of \(.*{told}\)"):
            want(given, (int, str), "a pair")
