from __future__ import annotations

import pytest

from taeda.fx.experimental._expressions import constant, floor_div, symbol
from taeda.fx.experimental._fit import explained

POINTS = [
    {"a": x, "b": y}
    for x, y in ((4, 3), (5, 3), (6, 3), (7, 3), (9, 3), (4, 6), (4, 10), (9, 15), (21, 9), (12, 6))
]


@pytest.mark.parametrize(
    "formula",
    [
        lambda a, b: a, lambda a, b: 3 * a - 2, lambda a, b: a * b, lambda a, b: a + b + 1,
        lambda a, b: a * b * b, lambda a, b: 2 * a * b + a, lambda a, b: (a + 3) // 4,
        lambda a, b: (b - 1) // 2 + 0, lambda a, b: a * a,
    ],
)  # fmt: skip
def test_formulas_are_found_and_hold_elsewhere(formula):
    made = explained([formula(**p) for p in POINTS], POINTS, ["a", "b"], [])
    for a, b in ((5, 2), (31, 17), (64, 8)):
        assert made.value({"a": a, "b": b}) == formula(a, b)


def test_what_the_program_computed_comes_before_guesses():
    known = [floor_div(symbol("a") * symbol("b"), constant(5)) + symbol("b")]
    numbers = [known[0].value(p) for p in POINTS]
    assert explained(numbers, POINTS, ["a", "b"], known) == known[0]


def test_nothing_is_found_for_what_no_formula_gives():
    assert explained([1, 9, 2, 8, 3, 7, 4, 6, 5, 0], POINTS, ["a", "b"], []) is None
    assert explained([p["a"] ** 4 for p in POINTS], POINTS, ["b"], []) is None


def test_a_sum_of_more_than_two_sizes():
    points = [{"a": 4, "b": 3, "c": 5}]
    points += [{**points[0], name: n} for name in "abc" for n in (6, 7, 9)]
    points += [{"a": n, "b": n + 1, "c": 2 * n} for n in (7, 8)]
    made = explained([p["a"] + 2 * p["b"] + p["c"] for p in points], points, ["a", "b", "c"], [])
    assert str(made) == "a + 2*b + c"
