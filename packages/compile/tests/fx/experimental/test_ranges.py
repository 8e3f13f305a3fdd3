from __future__ import annotations

import itertools
import math
import random

import pytest

from taeda.fx.experimental._expressions import (
    Relation,
    constant,
    floor_div,
    larger,
    modulo,
    smaller,
    symbol,
)
from taeda.fx.experimental._logic import joined
from taeda.fx.experimental._ranges import ValueRanges, bounds, narrowed, settled
from taeda.fx.experimental._reals import Real, real

A, B = symbol("a"), symbol("b")


def _random_formula(rng: random.Random, depth: int = 3):
    if not depth or rng.random() < 0.2:
        return rng.choice([A, B, constant(rng.randint(-4, 6))])
    a, b = (_random_formula(rng, depth - 1) for _ in range(2))
    kind = rng.randrange(7)
    if kind < 3:
        return (a + b, a - b, a * b)[kind]
    if kind < 5:
        return (larger, smaller)[kind - 3](a, b)
    return (floor_div, modulo)[kind - 5](a, constant(rng.randint(1, 5)))


def test_formulas_are_within_their_bounds_and_answers_are_right():
    rng, told = random.Random(5), 0
    for _ in range(400):
        low, high = rng.randint(-3, 4), rng.randint(0, 6)
        ranges = {"a": ValueRanges(low, low + high), "b": ValueRanges(2, rng.choice([2, 9]))}
        made, sign = _random_formula(rng), rng.choice(["==", "!=", "<", "<=", ">", ">="])
        limits = bounds(made, ranges)
        question = Relation(sign, made, _random_formula(rng, 1))
        answer = settled(question, ranges)
        told += answer is not None
        points = itertools.product(range(low, low + high + 1), range(2, 10))
        for a, b in points:
            if b <= ranges["b"].upper:
                assert made.value({"a": a, "b": b}) in limits
                assert answer is None or question.value({"a": a, "b": b}) == answer
    assert told > 60


def test_bounds_that_are_exact():
    ranges = {"a": ValueRanges(2, math.inf), "b": ValueRanges(-3, 2)}
    for made, low, high in (
        (A + A, 4, math.inf), (B * B, 0, 9), (-B, -2, 3), (floor_div(A, constant(4)), 0, math.inf),
        (modulo(B, constant(4)), 0, 3), (larger(A, B), 2, math.inf), (smaller(A, B), -3, 2),
        (A * constant(0), 0, 0), (floor_div(B, A), -2, 1), (symbol("c"), -math.inf, math.inf),
    ):  # fmt: skip
        assert bounds(made, ranges) == ValueRanges(low, high), made
    assert bounds(Real("number", 2.5), {}).is_singleton()
    assert bounds(real("truediv", A, 2), ranges) == ValueRanges()


@pytest.mark.parametrize("sign", ["==", "<", "<=", ">", ">="])
@pytest.mark.parametrize("slope", [-3, -1, 1, 2])
def test_a_relation_narrows_a_range_to_the_numbers_for_which_it_holds(sign, slope):
    for rest in range(-7, 8):
        relation = Relation(sign, constant(slope) * A, constant(rest))
        holding = {a for a in range(-30, 31) if relation.value({"a": a})}
        if not holding:
            continue
        name, limits = narrowed(relation, {"a": ValueRanges(-30, 30)})
        assert name == "a" and {a for a in range(-30, 31) if a in limits} == holding


def test_what_says_nothing_of_one_symbol():
    for relation in (
        Relation("<", A, B), Relation("!=", A, constant(2)), Relation("<", A * A, constant(9)),
        Relation("<", floor_div(A, constant(2)), constant(4)), Relation("<", real("float", A), A),
    ):  # fmt: skip
        assert narrowed(relation, {}) is None


def test_joined_questions_and_floats():
    ranges = {"a": ValueRanges(2, 9)}
    above, below = Relation(">", A, constant(1)), Relation(">", B, constant(1))
    assert settled(joined("or", above, below), ranges) is True
    assert settled(joined("and", above, below), ranges) is None
    assert settled(Relation(">", real("truediv", A, 2), constant(0)), ranges) is None
    assert settled(Relation("==", A, constant(4)), {"a": ValueRanges(4, 4)}) is True


def test_ranges_as_sets():
    small, large = ValueRanges(2, 5), ValueRanges(upper=5)
    assert small.issubset(large) and not large.issubset(small) and small & large == small
    assert 2 in small and 6 not in small and not small.is_singleton()
    with pytest.raises(ValueError, match="at least 6 and at most 5"):
        ValueRanges(6, 5)
    with pytest.raises(ValueError, match="no number"):
        ValueRanges(math.nan)
