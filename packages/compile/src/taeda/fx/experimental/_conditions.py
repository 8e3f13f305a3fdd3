"""What is known to hold of symbols, and what follows from it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ._expressions import Expression, Relation, constant, symbol
from ._logic import Joined, Question
from ._questions import canonicalize_bool_expr

if TYPE_CHECKING:
    from .symbolic_shapes import ShapeEnv

__all__ = ["axioms", "implications", "implied"]

_FOLLOW = {
    "==": {"==": True, "<=": True, ">=": True, "!=": False, "<": False, ">": False},
    "!=": {"!=": True, "==": False},
    "<": {"<": True, "<=": True, "!=": True, "==": False, ">=": False, ">": False},
    "<=": {"<=": True, ">": False},
    ">": {">": True, ">=": True, "!=": True, "==": False, "<=": False, "<": False},
    ">=": {">=": True, "<": False},
}


def implications(e: Question) -> tuple[tuple[Question, bool], ...]:
    """The questions that one that holds answers, with the answers.

    >>> implications(Relation("!=", symbol("s0"), constant(2)))
    ((s0 != 2, True), (s0 == 2, False))
    """
    if isinstance(e, Joined):
        parts = e.parts if e.sign == "and" else ()
        inner = [fact for part in parts for fact in implications(part)]
        return ((e, True), (e.negated(), False), *inner)
    return tuple((Relation(s, e.left, e.right), yes) for s, yes in _FOLLOW[e.sign].items())


def implied(question: Question, holding: Iterable[Question]) -> bool | None:
    """The answer to a question, if one of what holds gives it."""
    names, wanted = question.symbols(), _canonical(question)
    for axiom in holding:
        if axiom.symbols() >= names:
            for fact, answer in implications(axiom):
                if _canonical(fact) == wanted:
                    return answer
    return None


def _canonical(question: Question) -> Question:
    return question if isinstance(question, Joined) else canonicalize_bool_expr(question)


def axioms(
    env: ShapeEnv, symbols: Sequence[Expression] | None, compute_hint: bool
) -> tuple[Question, ...]:
    """Guards, runtime assertions and the ends of ranges, of these symbols or of all."""
    wanted = None if symbols is None else {str(s) for s in symbols}
    known = [*env.guards, *(question for question, _ in env.deferred_runtime_asserts)]
    known.extend(_ends(env))
    if wanted is not None:
        known = [question for question in known if question.symbols() & wanted]
    if compute_hint:
        values = {n: constant(v) for n, v in env.var_to_val.items() if type(v) is int}
        others = {n: v for n, v in values.items() if wanted is None or n not in wanted}
        known = [question.replaced(others) for question in known]
    return tuple(known)


def _ends(env: ShapeEnv) -> list[Question]:
    made: list[Question] = []
    for name, limits in env.var_to_range.items():
        if limits.lower != -math.inf:
            made.append(Relation(">=", symbol(name), constant(int(limits.lower))))
        if limits.upper != math.inf:
            made.append(Relation("<=", symbol(name), constant(int(limits.upper))))
    return made
