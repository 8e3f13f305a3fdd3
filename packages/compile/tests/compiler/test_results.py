from __future__ import annotations

from collections import namedtuple

import pytest

import taeda
from taeda.compiler._results import Spent, builder

Pair = namedtuple("Pair", "a b")


def test_structures_are_made_of_outputs():
    spec = (
        dict,
        {"l": (list, [("slot", 1), ("value", 3)]), "n": ("named", Pair, [("slot", 0)] * 2)},
    )
    assert builder(spec)((5, 6)) == {"l": [6, 3], "n": Pair(5, 5)}


def test_a_spent_result_says_that_its_graph_is_used_up():
    made = builder(("consumed", 0, Spent(taeda.ones(2))))((taeda.ones(2),))
    with pytest.raises(RuntimeError, match="a second time"):
        made.sum().backward()
