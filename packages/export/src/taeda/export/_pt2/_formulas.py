"""Formulas of sizes as text: `Add(Mul(Integer(2), Symbol('s0', positive=True, integer=True)), ...)`."""

from __future__ import annotations

import operator
import re
from typing import Any

import taeda
from taeda._core_api.files import FormatError
from taeda.fx.experimental._expressions import (
    Call,
    Expression,
    constant,
    floor_div,
    larger,
    modulo,
    smaller,
    symbol,
)

__all__ = ["ANSWERS", "float_text", "formula_of", "side_of", "text_of"]

ANSWERS: dict[Any, str] = {
    operator.eq: "Equality", operator.ne: "Unequality", operator.lt: "StrictLessThan",
    operator.le: "LessThan", operator.gt: "StrictGreaterThan", operator.ge: "GreaterThan",
    operator.and_: "And", operator.or_: "Or",
}  # fmt: skip

_NAMES = {"floordiv": "FloorDiv", "mod": "Mod", "max": "Max", "min": "Min"}
_LONGEST, _DEEPEST, _MOST_TERMS = 10_000, 50, 1000


def text_of(expr: Expression) -> str:
    """The text of a formula that is no number."""
    parts = [_product(product, factor) for product, factor in expr.terms.items()]
    return parts[0] if len(parts) == 1 else f"Add({', '.join(parts)})"


def _product(product: tuple[tuple[str | Call, int], ...], factor: int) -> str:
    parts = [] if factor == 1 and product else [f"Integer({factor})"]
    for atom, power in product:
        text = _atom(atom)
        parts.append(text if power == 1 else f"Pow({text}, Integer({power}))")
    return parts[0] if len(parts) == 1 else f"Mul({', '.join(parts)})"


def _atom(atom: str | Call) -> str:
    if isinstance(atom, str):
        positive = "" if atom.startswith("u") else "positive=True, "  # data may decide it to be 0
        return f"Symbol('{atom}', {positive}integer=True)"
    sides = (side_of(atom.left), side_of(atom.right))
    return f"{_NAMES[atom.name]}({', '.join(sides)})"


def side_of(expr: Expression) -> str:
    """The text of a formula or a number."""
    return f"Integer({expr.number})" if expr.number is not None else text_of(expr)


_OF_FLOATS: dict[Any, str] = {
    operator.add: "Add({0}, {1})", operator.sub: "Add({0}, Mul(Integer(-1), {1}))",
    operator.mul: "Mul({0}, {1})", operator.truediv: "FloatTrueDiv({0}, {1})",
    operator.neg: "Mul(Integer(-1), {0})", operator.pow: "FloatPow({0}, {1})",
    taeda.sym_float: "ToFloat({0})", taeda.sym_max: "Max({0}, {1})", taeda.sym_min: "Min({0}, {1})",
}  # fmt: skip


def float_text(function: Any, parts: list[str]) -> str | None:
    """The text of a float that a function of numbers gives, whose arguments are these texts; None for
    functions that have no word. Integers are divided by another word.
    """
    if function is operator.truediv and not any(map(_is_float, parts)):
        return f"IntTrueDiv({', '.join(parts)})"
    pattern = _OF_FLOATS.get(function)
    return None if pattern is None else pattern.format(*parts)


def _is_float(text: str) -> bool:
    return re.search(r"Float|TrueDiv|'zuf", text) is not None


def formula_of(text: str) -> Expression:
    """The formula that a text stands for. FormatError for a text that is none: it is never run.

    >>> formula_of("Add(Mul(Integer(2), Symbol('s0', positive=True)), Integer(-1))")
    2*s0 - 1
    """
    if not isinstance(text, str) or len(text) > _LONGEST:
        raise FormatError(f"a formula of a size is a text of at most {_LONGEST} characters")
    try:
        words = _Words(text)
        made = words.formula(_DEEPEST)
        words.end()
    except (ValueError, ZeroDivisionError) as error:
        raise FormatError(f"{text[:80]!r} is no formula of sizes: {error}") from None
    return made


class _Words:
    """The words of a text, one after the other."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0

    def take(self, pattern: str) -> str | None:
        """The word at this place if it is such a one, and the place behind it."""
        found = re.compile(rf"\s*({pattern})").match(self.text, self.at)
        if found is None:
            return None
        self.at = found.end()
        return found[1]

    def wanted(self, pattern: str) -> str:
        """The word at this place, which must be such a one."""
        found = self.take(pattern)
        if found is None:
            raise ValueError(f"it has {self.text[self.at : self.at + 20]!r} at {self.at}")
        return found

    def end(self) -> None:
        """ValueError if something is left."""
        self.wanted(r"\Z")

    def formula(self, depth: int) -> Expression:
        """A number, a symbol or a call."""
        if depth == 0:
            raise ValueError("it is too deep")
        if (number := self.take(r"-?\d{1,19}\b")) is not None:
            return constant(int(number))
        name = self.wanted(r"[A-Za-z]\w{0,30}")
        self.wanted(r"\(")
        if name == "Symbol":
            return self._symbol()
        parts = [self.formula(depth - 1)]
        while self.take(","):
            parts.append(self.formula(depth - 1))
        self.wanted(r"\)")
        return parts[0] if name == "Integer" and len(parts) == 1 else _combined(name, parts)

    def _symbol(self) -> Expression:
        """A name in quotes, and what is assumed of it: every size is a positive integer anyhow."""
        name = self.wanted(r"'[A-Za-z_]\w{0,98}'|\"[A-Za-z_]\w{0,98}\"")[1:-1]
        while self.take(","):
            self.wanted(r"\w{1,30}=(?:True|False)")
        self.wanted(r"\)")
        return symbol(name)


def _combined(name: str, parts: list[Expression]) -> Expression:
    if name == "Pow" and len(parts) == 2 and parts[1].number in range(1, 9):
        parts = [parts[0]] * int(parts[1].number or 1)
        name = "Mul"
    two = {"FloorDiv": floor_div, "Mod": modulo, "PythonMod": modulo}.get(name)
    several = {
        "Add": Expression.__add__, "Mul": Expression.__mul__, "Max": larger, "Min": smaller,
    }.get(name)  # fmt: skip
    rule = several or (two if len(parts) == 2 else None)
    if rule is None or len(parts) > 20:
        raise ValueError(f"it has {name} of {len(parts)}")
    total = parts[0]
    for part in parts[1:]:
        if len(total.terms) * len(part.terms) > _MOST_TERMS:
            raise ValueError(f"it has more than {_MOST_TERMS} terms")
        total = rule(total, part)
        if any(abs(factor) >= 2**63 for factor in total.terms.values()):
            raise ValueError("it has a number of more than 64 bits")
    return total
