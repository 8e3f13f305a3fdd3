"""Conditions between sizes as text."""

from __future__ import annotations

import pytest

from taeda.export._pt2._conditions import condition_of
from taeda.fx.experimental._expressions import constant, symbol

SIZES = {"x": (symbol("s0"), symbol("s1")), "y": (constant(4),)}
POINTS = [{"s0": a, "s1": b} for a in (1, 2, 3, 8) for b in (1, 4, 6)]
TEXTS = [
    "L['x'].size()[0] // 2 != 1",
    "(max(1, L['x'].size()[0] // 2)*min(3, L['x'].size()[1])) != 1",
    "L['x'].size()[0] == L['x'].size()[1] - 2 + -1",
    "L['y'].size()[0] == 4",
    "2*L['x'].size()[1] % 3 >= L['x'].size()[0]*(L['x'].size()[1] + 1)",
]


class Shaped:
    def __init__(self, *shape):
        self.shape = shape

    def size(self):
        return self.shape


@pytest.mark.parametrize("text", TEXTS)
def test_it_says_what_python_says(text):
    relation = condition_of(text, SIZES)
    for point in POINTS:
        given = {"x": Shaped(point["s0"], point["s1"]), "y": Shaped(4)}
        assert relation.value(point) == eval(text, {"L": given}), point


@pytest.mark.parametrize(
    "text",
    ["", "1", "__import__('os')", "L['x'].size()[0]", "L['x'].size()[0] == 1 == 2", "L['z'].size()[0] == 1",
     "L['x'].size()[9] == 1", "L['x'].__class__ == 1", "L['x'].size()[0] == 1 and 1", "(1 == 1",
     "1 // 0 == 1", "max(1) == 1", "(" * 99 + "1" + ")" * 99 + " == 1", "9" * 30 + " == 1",
     "x" * 9000, None, 5,
     "*".join(["999999999999999999"] * 9) + " == 1"],
)  # fmt: skip
def test_text_that_is_no_condition_of_sizes(text):
    with pytest.raises(RuntimeError, match="condition"):
        condition_of(text, SIZES)
