from __future__ import annotations

import itertools

from taeda.fx.experimental._conditions import implications, implied
from taeda.fx.experimental._expressions import COMPARED, Relation, constant, symbol
from taeda.fx.experimental._logic import joined

A, B = symbol("a"), symbol("b")
SIGNS = list(COMPARED)


def test_what_follows_holds():
    questions = [Relation(sign, A, B) for sign in SIGNS]
    questions.append(joined("and", Relation("<", A, B), Relation(">", A, constant(1))))
    questions.append(joined("or", Relation("<", A, B), Relation(">", A, constant(1))))
    for question in questions:
        facts = implications(question)
        for a, b in itertools.product(range(4), repeat=2):
            values = {"a": a, "b": b}
            if question.value(values):
                assert all(fact.value(values) == answer for fact, answer in facts), question


def test_an_axiom_answers_however_the_question_is_written():
    axiom = Relation("<", A + constant(1), B)
    assert implied(Relation(">", B - A, constant(1)), [axiom]) is True
    assert implied(Relation("<=", B, A + constant(1)), [axiom]) is False
    assert implied(Relation("==", A, symbol("c")), [axiom]) is None
    assert implied(Relation("<", A, B), [axiom]) is None  # arithmetic is not searched
