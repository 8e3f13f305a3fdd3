"""Formulas as text, and text as formulas."""

from __future__ import annotations

import pytest

from taeda.export._pt2._formulas import formula_of, text_of
from taeda.fx.experimental._expressions import constant, floor_div, larger, modulo, symbol

S, T = symbol("s0"), symbol("s1")
FORMULAS = [
    S, S + constant(1), constant(2) * S - T, S * S * T + constant(-3),
    floor_div(S + constant(1), constant(2)), modulo(S, constant(3)) * T, larger(S, constant(4)),
]  # fmt: skip


@pytest.mark.parametrize("formula", FORMULAS, ids=str)
def test_there_and_back(formula):
    assert formula_of(text_of(formula)) == formula


MANY = "Add(" + ", ".join(f"Symbol('s{k}')" for k in range(20)) + ")"
GROWING = [
    f"Mul({', '.join([MANY] * 20)})",  # 20 sums of 20: some 10^10 products
    "Pow(" * 40 + "Integer(9)" + ", Integer(8))" * 40,  # a number of 10^36 digits
    f"Pow(Pow({MANY}, Integer(8)), Integer(8))",
]


@pytest.mark.parametrize("text", GROWING, ids=["products", "a number", "powers"])
def test_text_that_stands_for_more_than_memory_holds(text):
    with pytest.raises(RuntimeError, match=r"terms|64 bits"):
        formula_of(text)


@pytest.mark.parametrize(
    "text",
    ["", "x", "Symbol('a b')", "Symbol(1)", "Add()", "open('f')", "Integer(1.5)", "1 + 1", "[1]",
     "Pow(Symbol('a'), Integer(999999999))", "FloorDiv(Integer(1), Integer(0))", "Integer(" * 99,
     "Add(" + "1," * 99 + "1)", "x" * 20_000, 3, None, "Symbol('s0').x", "lambda: 1"],
)  # fmt: skip
def test_text_that_is_no_formula(text):
    with pytest.raises(RuntimeError, match="formula"):
        formula_of(text)
