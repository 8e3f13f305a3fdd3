"""Conditions between sizes of arguments as text: `L['x'].size()[0] // 2 != 1`. They are parsed, never run."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from taeda._core_api.files import FormatError
from taeda.fx.experimental._expressions import (
    Expression,
    Relation,
    constant,
    floor_div,
    larger,
    modulo,
    smaller,
)

__all__ = ["condition_of"]

_LONGEST, _DEEPEST, _MOST_TERMS = 2000, 30, 1000
_SIZE = r"L\['(\w{1,200})'\]\.size\(\)\[(\d{1,2})\]"
_WORD = re.compile(
    rf"\s*(?:({_SIZE})|(\d{{1,18}})\b|(==|!=|<=|>=|//|[-+*%<>(),])|(max|min)\b|(\Z))"
)
_SIGNS = ("==", "!=", "<", "<=", ">", ">=")
_PRODUCTS: dict[str, Callable[[Expression, Expression], Expression]] = {
    "*": Expression.__mul__, "//": floor_div, "%": modulo,
}  # fmt: skip
Sizes = Mapping[str, tuple[Expression, ...]]


def condition_of(text: Any, sizes: Sizes) -> Relation:
    """The condition that a text says of the sizes of arguments, by their names. FormatError for text
    that says something else.
    """
    if not isinstance(text, str) or len(text) > _LONGEST:
        raise FormatError(f"a condition of a program is a text of at most {_LONGEST} characters")
    try:
        return _Reader(text, sizes).condition()
    except (ValueError, ZeroDivisionError) as error:
        raise FormatError(
            f"the file holds the condition {text[:100]!r} as Python text, which is not run, and it is none "
            f"between sizes of arguments: {error}"
        ) from None


class _Reader:
    """The words of one text, one after the other."""

    def __init__(self, text: str, sizes: Sizes) -> None:
        self.text, self.sizes, self.at, self.depth = text, sizes, 0, 0
        self.next()

    def next(self) -> None:
        """Go to the word that follows."""
        found = _WORD.match(self.text, self.at)
        if found is None:
            raise ValueError(f"it has {self.text[self.at : self.at + 20]!r}")
        self.word, self.at = found, found.end()
        self.sign = found[5] or found[6] or ""

    def condition(self) -> Relation:
        left, sign = self.sum(), self.sign
        if sign not in _SIGNS:
            raise ValueError("it compares nothing")
        self.next()
        made = Relation(sign, left, self.sum())
        if self.word[7] is None:
            raise ValueError(f"more stands behind it: {self.word[0]!r}")
        return made

    def sum(self) -> Expression:
        total = self.product()
        while self.sign in ("+", "-"):
            sign = self.sign
            self.next()
            part = self.product()
            total = _bounded(total + part if sign == "+" else total - part)
        return total

    def product(self) -> Expression:
        total = self.atom()
        while self.sign in _PRODUCTS:
            rule = _PRODUCTS[self.sign]
            self.next()
            part = self.atom()
            if len(total.terms) * len(part.terms) > _MOST_TERMS:
                raise ValueError(f"it has more than {_MOST_TERMS} terms")
            total = _bounded(rule(total, part))
        return total

    def atom(self) -> Expression:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise ValueError("it is too deep")
        made = self._atom()
        self.depth -= 1
        return made

    def _atom(self) -> Expression:
        word, sign = self.word, self.sign
        self.next()
        if word[1]:
            return self._size(word[2], int(word[3]))
        if word[4]:
            return constant(int(word[4]))
        if sign == "-":
            return -self.atom()
        if sign in ("max", "min"):
            self._wanted("(")
            one = self.sum()
            self._wanted(",")
            two = self.sum()
            self._wanted(")")
            return (larger if sign == "max" else smaller)(one, two)
        if sign != "(":
            raise ValueError(f"it has {word[0]!r}")
        made = self.sum()
        self._wanted(")")
        return made

    def _wanted(self, sign: str) -> None:
        if self.sign != sign:
            raise ValueError(f"{sign!r} is missing")
        self.next()

    def _size(self, name: str, dim: int) -> Expression:
        if dim >= len(self.sizes.get(name, ())):
            raise ValueError(f"no argument {name!r} has a dimension {dim}")
        return self.sizes[name][dim]


def _bounded(made: Expression) -> Expression:
    if any(abs(factor) >= 2**63 for factor in made.terms.values()):
        raise ValueError("it has a number of more than 64 bits")
    return made
