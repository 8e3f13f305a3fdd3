from __future__ import annotations

import itertools

import pytest

from taeda.fx.experimental._expressions import Relation, constant, symbol
from taeda.fx.experimental._logic import joined

A, B, C = (Relation(">", symbol(name), constant(2)) for name in "abc")
NEVER, ALWAYS = (Relation(sign, symbol("a"), symbol("a")) for sign in ("<", "<="))


def test_joined_questions_answer_as_pythons_words_do():
    made = joined("or", joined("and", A, B), C)
    for a, b, c in itertools.product((1, 3), repeat=3):
        values = {"a": a, "b": b, "c": c}
        assert made.value(values) == ((a > 2 and b > 2) or c > 2) != made.negated().value(values)
    assert made.symbols() == {"a", "b", "c"} and str(made) == "(a > 2 and b > 2) or c > 2"
    assert made.replaced({"c": constant(9)}).decided() is True
    assert made.replaced({"c": constant(1)}).decided() is None


def test_the_same_word_joins_flat_and_once():
    assert joined("and", joined("and", A, B), A, C).parts == (A, B, C)
    assert joined("or", A, A) == A


@pytest.mark.parametrize(("sign", "parts", "answer"), [
    ("and", (A, NEVER), False), ("and", (A, ALWAYS), None), ("and", (ALWAYS, ALWAYS), True),
    ("or", (A, ALWAYS), True), ("or", (A, NEVER), None), ("or", (NEVER, NEVER), False),
])  # fmt: skip
def test_some_answers_decide(sign, parts, answer):
    assert joined(sign, *parts).decided() is answer
