"""Expressions of sizes are what Python's integers say."""

from __future__ import annotations

import operator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taeda.fx.experimental._expressions import (
    Relation,
    constant,
    floor_div,
    larger,
    modulo,
    smaller,
    symbol,
)

OPERATIONS = (
    (operator.add, operator.add), (operator.sub, operator.sub), (operator.mul, operator.mul),
    (floor_div, operator.floordiv), (modulo, operator.mod), (larger, max), (smaller, min),
)  # fmt: skip
a, b = symbol("a"), symbol("b")
POINTS = [{"a": x, "b": y} for x in (2, 3, 7, 12) for y in (2, 5, 9)]


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_random_trees(data):
    known = [(e, [e.value(p) for p in POINTS]) for e in (a, b, constant(3), constant(-2))]
    for _ in range(data.draw(st.integers(1, 8))):
        rule, plain = data.draw(st.sampled_from(OPERATIONS))
        (x, xs), (y, ys) = (data.draw(st.sampled_from(known)) for _ in range(2))
        if plain in (operator.floordiv, operator.mod) and 0 in ys:
            continue
        made, wanted = rule(x, y), [plain(p, q) for p, q in zip(xs, ys, strict=True)]
        if max(map(abs, wanted)) < 10**9:
            known.append((made, wanted))
    for made, wanted in known:
        assert [made.value(p) for p in POINTS] == wanted
        assert [eval(str(made), {}, p) for p in POINTS] == wanted  # the text is Python
        assert (made.number is not None) == (not made.symbols())
        try:
            there = [made.value({"a": p["b"] + 1, "b": p["b"]}) for p in POINTS]
        except ZeroDivisionError:  # a divisor is 0 where a is b + 1
            continue
        moved = made.replaced({"a": b + constant(1)})
        assert [moved.value(p) for p in POINTS] == there


def test_equal_polynomials_are_equal():
    assert a * constant(2) - a == a and hash(a + b) == hash(b + a)
    assert (a + b) * (a - b) == a * a - b * b
    assert floor_div(a * b * constant(6), b * constant(3)) == a * constant(2)
    assert modulo(a * constant(4), constant(2)) == constant(0)
    assert str(a * a - b * constant(3) + constant(1)) == "a**2 - 3*b + 1"
    with pytest.raises(ZeroDivisionError):
        floor_div(a, constant(0))
    with pytest.raises(ZeroDivisionError):
        modulo(a, constant(0))


def test_relations():
    greater = Relation(">", a, b)
    assert greater.value({"a": 3, "b": 2}) and not greater.negated().value({"a": 3, "b": 2})
    assert greater.decided() is None and Relation("<", a, a + constant(1)).decided() is True
    assert Relation("==", a, a + constant(1)).decided() is False
    assert str(greater.negated()) == "a <= b" and greater.symbols() == {"a", "b"}
