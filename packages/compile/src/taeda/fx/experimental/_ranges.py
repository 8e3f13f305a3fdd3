"""What sizes can be: a least and a largest number, and what follows for formulas."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ._expressions import COMPARED, Call, Expression, Relation
from ._logic import Joined, Question, _settled
from ._reals import Real

__all__ = ["ValueRanges", "bounds", "narrowed", "settled"]

_INF = math.inf


@dataclass(frozen=True)
class ValueRanges:
    """The numbers from `lower` to `upper`, both included; infinite ends are `±math.inf`. ValueError
    if there are none.

    >>> import math
    >>> ValueRanges(2, 8) & ValueRanges(4, math.inf)
    ValueRanges(lower=4, upper=8)
    """

    lower: float = -_INF
    upper: float = _INF

    def __post_init__(self) -> None:
        if not self.lower <= self.upper:
            raise ValueError(f"no number is at least {self.lower} and at most {self.upper}")

    def __contains__(self, number: float) -> bool:
        return self.lower <= number <= self.upper

    def __and__(self, other: ValueRanges) -> ValueRanges:
        return ValueRanges(max(self.lower, other.lower), min(self.upper, other.upper))

    def issubset(self, other: ValueRanges) -> bool:
        """Whether all of these numbers are among the others."""
        return other.lower <= self.lower and self.upper <= other.upper

    def is_singleton(self) -> bool:
        """Whether there is one number only."""
        return self.lower == self.upper


_ANY = ValueRanges()
Ranges = Mapping[str, ValueRanges]


def bounds(expr: Expression | Real, ranges: Ranges) -> ValueRanges:
    """Numbers among which a formula's are, if its symbols are in these ranges; it need not take all
    of them. A float that depends on sizes may be any.
    """
    if isinstance(expr, Real):
        return _ANY if expr.number is None else ValueRanges(expr.number, expr.number)
    total = ValueRanges(0, 0)
    for product, factor in expr.terms.items():
        one = ValueRanges(factor, factor)
        for atom, power in product:
            base = ranges.get(atom, _ANY) if isinstance(atom, str) else _called(atom, ranges)
            one = _times(one, _power(base, power))
        total = ValueRanges(total.lower + one.lower, total.upper + one.upper)
    return total


def _power(base: ValueRanges, power: int) -> ValueRanges:
    made = base
    for _ in range(power - 1):
        made = _times(made, base)
    return ValueRanges(max(made.lower, 0), made.upper) if power % 2 == 0 else made


def _times(a: ValueRanges, b: ValueRanges) -> ValueRanges:
    ends = [_product(x, y) for x in (a.lower, a.upper) for y in (b.lower, b.upper)]
    return ValueRanges(min(ends), max(ends))


def _product(x: float, y: float) -> float:
    return x * y if x and y else 0


def _called(call: Call, ranges: Ranges) -> ValueRanges:
    left, right = bounds(call.left, ranges), bounds(call.right, ranges)
    if call.name in ("max", "min"):
        pick: Any = max if call.name == "max" else min
        return ValueRanges(pick(left.lower, right.lower), pick(left.upper, right.upper))
    if right.lower <= 0:
        return _ANY
    if call.name == "mod":
        return ValueRanges(0, right.upper - 1)
    ends = [_quotient(x, y) for x in (left.lower, left.upper) for y in (right.lower, right.upper)]
    return ValueRanges(min(ends), max(ends))


def _quotient(x: float, y: float) -> float:
    """`x // y`, where y > 0 and each may be infinite."""
    if math.isinf(x):
        return x if not math.isinf(y) else (-1 if x < 0 else 0)
    return x // y if not math.isinf(y) else (-1 if x < 0 else 0)


# ---- questions ----


def settled(question: Question, ranges: Ranges) -> bool | None:
    """Whether a question's answer is the same for all symbols in these ranges, and which; None if
    the ranges do not tell.
    """
    if isinstance(question, Joined):
        return _settled(question.sign, [settled(part, ranges) for part in question.parts])
    decided = question.decided()
    if decided is not None or isinstance(question.left, Real) or isinstance(question.right, Real):
        return decided
    apart = bounds(question.left - question.right, ranges)
    if question.sign in ("==", "!=") and not (apart.is_singleton() and 0 in apart):
        return question.sign == "!=" if 0 not in apart else None
    answers = {bool(COMPARED[question.sign](end, 0)) for end in (apart.lower, apart.upper)}
    return answers.pop() if len(answers) == 1 else None


def narrowed(relation: Relation, ranges: Ranges) -> tuple[str, ValueRanges] | None:
    """The symbol of which a relation that holds says a bound, and its range with that bound."""
    if isinstance(relation.left, Real) or isinstance(relation.right, Real):
        return None
    apart = relation.left - relation.right
    names = apart.symbols()
    if len(names) != 1 or relation.sign == "!=":
        return None
    (name,) = names
    rest = apart.terms.get((), 0)
    slope = apart.terms.get(((name, 1),), 0)
    if apart != _line(name, slope, rest):
        return None
    made = _bound(relation.sign, slope, rest) & ranges.get(name, _ANY)
    return name, made


def _line(name: str, slope: int, rest: int) -> Expression:
    return Expression({((name, 1),): slope, (): rest})


def _bound(sign: str, slope: int, rest: int) -> ValueRanges:
    """Integers s with `slope * s + rest sign 0`."""
    if slope < 0:
        slope, rest = -slope, -rest
        sign = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(sign, sign)
    at_most, at_least = -rest // slope, -(rest // slope)  # floor and ceiling of -rest / slope
    match sign:
        case "<=":
            return ValueRanges(-_INF, at_most)
        case ">=":
            return ValueRanges(at_least, _INF)
        case "<":
            return ValueRanges(-_INF, at_least - 1)
        case ">":
            return ValueRanges(at_most + 1, _INF)
    return ValueRanges(at_least, at_most)
