"""Floats that depend on sizes: what Python computes with them, as it was computed.

Nothing is reordered, for floats round: `n / 3 * 3` is kept as the two operators that it is.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

from ._expressions import Expression, constant

__all__ = ["Real", "real", "real_symbol"]


class Real:
    """A call of one of Python's operators; `parts` are numbers, symbols or more of it, and `steps` is
    how many operators there are in it, as often as each is written.
    """

    __slots__ = ("name", "parts", "steps")

    def __init__(self, name: str, *parts: Any) -> None:
        self.name, self.parts = name, parts
        self.steps: int = 1 + sum(getattr(part, "steps", 0) for part in parts)

    @property
    def number(self) -> float | None:
        """The float that it is, if it depends on nothing."""
        return self.parts[0] if self.name == "number" else None

    def value(self, values: Mapping[str, Any]) -> Any:
        """The number for these values of symbols. KeyError for one that has none."""
        if self.name == "number":
            return self.parts[0]
        if self.name == "symbol":
            return values[self.parts[0]]
        return RULES[self.name](*(part.value(values) for part in self.parts))

    def replaced(self, values: Mapping[str, Any]) -> Real:
        """The same with expressions in place of symbols."""
        if self.name == "number":
            return self
        if self.name == "symbol":
            return values.get(self.parts[0], self)
        return real(self.name, *(part.replaced(values) for part in self.parts))

    def symbols(self) -> set[str]:
        """The names of the symbols in it."""
        if self.name in ("number", "symbol"):
            return {self.parts[0]} if self.name == "symbol" else set()
        return set().union(*(part.symbols() for part in self.parts))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Real) and self.name == other.name and self.parts == other.parts

    def __hash__(self) -> int:
        return hash((self.name, self.parts))

    def __str__(self) -> str:
        if self.name in ("number", "symbol"):
            return str(self.parts[0])
        words = [_word(part) for part in self.parts]
        if self.name in _SIGNS:
            return f" {_SIGNS[self.name]} ".join(words)
        return f"-{words[0]}" if self.name == "neg" else f"{self.name}({', '.join(words)})"

    __repr__ = __str__


RULES: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "truediv": operator.truediv,
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "neg": operator.neg,
    "pow": operator.pow,
    "float": float,
    "max": lambda a, b: float(max(a, b)),
    "min": lambda a, b: float(min(a, b)),
}
_SIGNS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**"
}  # fmt: skip


def _word(part: Any) -> str:
    text = str(part)
    return text if text.replace("_", "").replace(".", "").isalnum() else f"({text})"


def real_symbol(name: str) -> Real:
    """A float that is not known yet."""
    return Real("symbol", name)


def real(name: str, *parts: Any) -> Real:
    """An operator's result; it is computed where all parts are numbers. Numbers among the parts may
    be Python's. ZeroDivisionError as Python has it.
    """
    made = tuple(_part(part) for part in parts)
    numbers = [part.number for part in made]
    if all(number is not None for number in numbers):
        return Real("number", RULES[name](*numbers))
    if name in ("truediv", "floordiv", "mod") and numbers[1] == 0:
        raise ZeroDivisionError("float division by zero")
    return Real(name, *made)


def _part(part: Any) -> Any:
    if isinstance(part, (Real, Expression)):
        return part
    return Real("number", part) if isinstance(part, float) else constant(int(part))
