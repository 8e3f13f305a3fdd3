"""Integers that depend on sizes: polynomials in symbols, with `//`, `%`, `max` and `min`.

Two expressions that are equal as polynomials are equal as objects, so `s0 * 2 - s0` is `s0`. A
product is a sorted tuple of (atom, power); an atom is a symbol's name or a `Call`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._reals import Real

__all__ = [
    "Call",
    "Expression",
    "Relation",
    "constant",
    "floor_div",
    "larger",
    "modulo",
    "smaller",
    "symbol",
]

Product = tuple[tuple[Any, int], ...]


@dataclass(frozen=True)
class Call:
    """What is no polynomial: `floordiv`, `mod`, `max` or `min` of two expressions."""

    name: str
    left: Expression
    right: Expression

    def value(self, values: Mapping[str, int]) -> int:
        """What it is for these symbols."""
        return _RULES[self.name](self.left.value(values), self.right.value(values))

    def __str__(self) -> str:
        if self.name in _SIGNS:
            return f"({_operand(self.left)} {_SIGNS[self.name]} {_operand(self.right)})"
        return f"{self.name}({self.left}, {self.right})"


_RULES: dict[str, Callable[[int, int], int]] = {
    "floordiv": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "max": max,
    "min": min,
}
_SIGNS = {"floordiv": "//", "mod": "%"}


class Expression:
    """A sum of products with integer factors; `terms` has the factor of each product."""

    __slots__ = ("_hash", "terms")

    def __init__(self, terms: Mapping[Product, int]) -> None:
        self.terms = {p: c for p, c in sorted(terms.items(), key=_rank) if c}
        self._hash = hash(tuple(self.terms.items()))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Expression) and self.terms == other.terms

    def __hash__(self) -> int:
        return self._hash

    @property
    def number(self) -> int | None:
        """The integer that it is, if it depends on nothing."""
        if not self.terms:
            return 0
        return self.terms.get((), 0) if set(self.terms) == {()} else None

    def __add__(self, other: Expression) -> Expression:
        terms = dict(self.terms)
        for product, factor in other.terms.items():
            terms[product] = terms.get(product, 0) + factor
        return Expression(terms)

    def __neg__(self) -> Expression:
        return Expression({p: -c for p, c in self.terms.items()})

    def __sub__(self, other: Expression) -> Expression:
        return self + -other

    def __mul__(self, other: Expression) -> Expression:
        terms: dict[Product, int] = {}
        for one, a in self.terms.items():
            for two, b in other.terms.items():
                product = _times(one, two)
                terms[product] = terms.get(product, 0) + a * b
        return Expression(terms)

    def value(self, values: Mapping[str, int]) -> int:
        """The integer for these values of symbols. KeyError for one that has none."""
        total = 0
        for product, factor in self.terms.items():
            for atom, power in product:
                base = values[atom] if isinstance(atom, str) else atom.value(values)
                factor *= base**power
            total += factor
        return total

    def replaced(self, values: Mapping[str, Expression]) -> Expression:
        """The same with expressions in place of symbols."""
        total = constant(0)
        for product, factor in self.terms.items():
            one = constant(factor)
            for atom, power in product:
                base = _replaced(atom, values)
                for _ in range(power):
                    one = one * base
            total = total + one
        return total

    def symbols(self) -> set[str]:
        """The names of the symbols in it."""
        return set(_symbols(self))

    def __str__(self) -> str:
        if not self.terms:
            return "0"
        words = [_word(p, c) for p, c in self.terms.items()]
        return " + ".join(words).replace("+ -", "- ")

    __repr__ = __str__


def _rank(item: tuple[Product, int]) -> Any:
    """Long products first, the bare number last."""
    product = item[0]
    return -sum(power for _, power in product), [str(atom) for atom, _ in product]


def _times(one: Product, two: Product) -> Product:
    powers = dict(one)
    for atom, power in two:
        powers[atom] = powers.get(atom, 0) + power
    return tuple(sorted(powers.items(), key=lambda entry: str(entry[0])))


def _word(product: Product, factor: int) -> str:
    parts = [str(atom) if power == 1 else f"{atom}**{power}" for atom, power in product]
    if not parts:
        return str(factor)
    return "*".join(parts if factor == 1 else [str(factor), *parts])


def _operand(expression: Expression) -> str:
    """The text beside a sign: in brackets, unless it is one word."""
    text = str(expression)
    return text if text.replace("_", "").isalnum() else f"({text})"


def _symbols(expression: Expression) -> Iterator[str]:
    for product in expression.terms:
        for atom, _ in product:
            if isinstance(atom, str):
                yield atom
            else:
                yield from _symbols(atom.left)
                yield from _symbols(atom.right)


def _replaced(atom: Any, values: Mapping[str, Expression]) -> Expression:
    if isinstance(atom, str):
        return values.get(atom, symbol(atom))
    made = _MAKERS[atom.name]
    return made(atom.left.replaced(values), atom.right.replaced(values))


# ---- making them ----


def constant(value: int) -> Expression:
    """An integer."""
    return Expression({(): int(value)})


def symbol(name: str) -> Expression:
    """A size that is not known yet."""
    return Expression({((name, 1),): 1})


def _called(name: str, a: Expression, b: Expression) -> Expression:
    if a.number is not None and b.number is not None:
        return constant(_RULES[name](a.number, b.number))
    return Expression({((Call(name, a, b), 1),): 1})


def floor_div(a: Expression, b: Expression) -> Expression:
    """`a // b`; what divides without rest is divided. ZeroDivisionError where `b` is 0."""
    if b.number == 0:
        raise ZeroDivisionError("integer division or modulo by zero")
    exact = _exact(a, b)
    return exact if exact is not None else _called("floordiv", a, b)


def modulo(a: Expression, b: Expression) -> Expression:
    """`a % b`."""
    if b.number == 0:
        raise ZeroDivisionError("integer division or modulo by zero")
    return constant(0) if _exact(a, b) is not None else _called("mod", a, b)


def larger(a: Expression, b: Expression) -> Expression:
    """The larger of the two."""
    return a if a == b else _called("max", a, b)


def smaller(a: Expression, b: Expression) -> Expression:
    """The smaller of the two."""
    return a if a == b else _called("min", a, b)


_MAKERS = {"floordiv": floor_div, "mod": modulo, "max": larger, "min": smaller}


def _exact(a: Expression, b: Expression) -> Expression | None:
    """`a / b` where every product of `a` holds the one product that `b` is. Sizes are not zero."""
    if len(b.terms) != 1:
        return None
    ((divisor, number),) = b.terms.items()
    made: dict[Product, int] = {}
    for product, factor in a.terms.items():
        powers = dict(product)
        for atom, power in divisor:
            powers[atom] = powers.get(atom, 0) - power
        if factor % number or any(p < 0 for p in powers.values()):
            return None
        rest = tuple(sorted(((k, p) for k, p in powers.items() if p), key=lambda e: str(e[0])))
        made[rest] = factor // number
    return Expression(made)


@dataclass(frozen=True, repr=False)
class Relation:
    """`left sign right`, where the sign is one of == != < <= > >=; the sides may be floats."""

    sign: str
    left: Expression | Real
    right: Expression | Real

    def value(self, values: Mapping[str, Any]) -> bool:
        """Whether it holds for these values of symbols."""
        return bool(COMPARED[self.sign](self.left.value(values), self.right.value(values)))

    def decided(self) -> bool | None:
        """Whether it holds whatever the symbols are, or never does; None if that depends."""
        if isinstance(self.left, Expression) and isinstance(self.right, Expression):
            a, b = (self.left - self.right).number, 0
        else:
            a, b = self.left.number, self.right.number  # type: ignore[assignment]  # floats
        return None if a is None or b is None else bool(COMPARED[self.sign](a, b))

    def negated(self) -> Relation:
        """The one that holds exactly where this one does not."""
        return Relation(OPPOSITE[self.sign], self.left, self.right)

    def replaced(self, values: Mapping[str, Expression]) -> Relation:
        """The same with expressions in place of symbols."""
        return Relation(self.sign, self.left.replaced(values), self.right.replaced(values))

    def symbols(self) -> set[str]:
        """The names of the symbols in it."""
        return self.left.symbols() | self.right.symbols()

    def __str__(self) -> str:
        return f"{self.left} {self.sign} {self.right}"

    __repr__ = __str__


COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}
OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
