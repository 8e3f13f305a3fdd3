"""Whole modules in files: a share of the graphs of objects, and what is told where another one comes back."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "hunt"))
import states
from kept_graphs import differs, made
from kept_objects import FORMATS, Net, Own

import taeda

pytestmark = pytest.mark.filterwarnings("ignore")


def test_a_share_of_the_graphs():
    outcomes = Counter()
    assert [fault for seed in range(1, 80) for fault in states.faults(seed, outcomes)] == []
    assert outcomes["right"] > 120


def net(**attributes):
    made = Net()
    for name, value in attributes.items():
        setattr(made, name, value)
    return made


SHARED, MEMORY = [1], taeda.ones(3)
TOLD = {
    "another type": (net(a=[1]), net(a=(1,)), "tuple where list was"),
    "another number": (net(a=[1]), net(a=[2]), "root.a.0: 2 where 1 was"),
    "another name": (net(a=1), net(b=1), "'b'"),
    "no longer one": (
        net(a=SHARED, b=SHARED),
        net(a=[1], b=[1]),
        "of its own, where it was met before",
    ),
    "one instead of two": (net(a=[1], b=[1]), net(a=SHARED, b=SHARED), "where there were two"),
    "memory apart": (
        net(a=MEMORY, b=MEMORY[1:]),
        net(a=taeda.ones(3), b=taeda.ones(2)),
        "memory is shared otherwise",
    ),
    "another tensor": (net(a=taeda.ones(2)), net(a=taeda.zeros(2)), "where tensor([1., 1.]) was"),
    "nothing": (net(a=Own()), net(a=Own()), ""),
}


@pytest.mark.parametrize("name", TOLD)
def test_what_is_told(name):
    before, after, told = TOLD[name]
    said = differs(before, after)
    assert told in said
    assert bool(said) == bool(told)


@pytest.mark.parametrize("form", FORMATS)
def test_objects_of_many_kinds_are_drawn(form):
    whole = [str(type(o)) for seed in range(200) for o in vars(made(seed, form)).values()]
    assert len(set(whole)) > 25
