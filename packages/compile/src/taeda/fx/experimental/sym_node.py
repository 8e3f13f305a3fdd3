"""SymInt and SymBool: a size, and a question about sizes, while a program is traced for any size."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from ._expressions import (
    COMPARED,
    Expression,
    Relation,
    constant,
    floor_div,
    larger,
    modulo,
    smaller,
)

if TYPE_CHECKING:
    from .symbolic_shapes import ShapeEnv

__all__ = ["SymBool", "SymInt"]


class SymInt:
    """An integer that depends on sizes; `hint` is what it is in this call.

    Integer arithmetic gives another one. A comparison gives a `SymBool`, and a branch on that one
    guards: the trace holds where the answer is the same. What needs the number itself (`range`,
    `int`, a true division, a key of a dict) fixes it: the trace holds for this number only.
    """

    __slots__ = ("env", "expr")

    def __init__(self, expr: Expression, env: ShapeEnv) -> None:
        self.expr, self.env = expr, env

    @property
    def hint(self) -> int:
        """The number in this call."""
        return self.env.size_hint(self.expr)

    def fixed(self) -> int:
        """The number in this call, which is guarded."""
        hint = self.hint
        self.env.evaluate_relation(Relation("==", self.expr, constant(hint)))
        return hint

    __int__ = __index__ = __trunc__ = fixed

    def __floor__(self) -> SymInt:
        return self

    __ceil__ = __pos__ = __sym_int__ = __floor__

    def __float__(self) -> float:
        return float(self.fixed())

    def __hash__(self) -> int:
        return hash(self.fixed())

    def __bool__(self) -> bool:
        return bool(SymBool(Relation("!=", self.expr, constant(0)), self.env))

    def __round__(self, digits: int | None = None) -> Any:
        return self if digits is None or digits >= 0 else round(self.fixed(), digits)

    def __neg__(self) -> SymInt:
        return SymInt(-self.expr, self.env)

    def __abs__(self) -> SymInt:
        positive = SymBool(Relation(">=", self.expr, constant(0)), self.env)
        return self if positive else -self

    def __pow__(self, power: Any) -> Any:
        if isinstance(power, int) and 0 <= power <= 8:
            made = constant(1)
            for _ in range(power):
                made = made * self.expr
            return SymInt(made, self.env)
        return self.fixed() ** (power.fixed() if isinstance(power, SymInt) else power)

    def __rpow__(self, base: Any) -> Any:
        return base ** self.fixed()

    def __truediv__(self, other: Any) -> Any:
        return self.fixed() / (other.fixed() if isinstance(other, SymInt) else other)

    def __rtruediv__(self, other: Any) -> Any:
        return other / self.fixed()

    def __divmod__(self, other: Any) -> tuple[Any, Any]:
        return self // other, self % other

    def __sym_max__(self, other: Any) -> Any:
        return self._with(other, larger, max)

    def __sym_min__(self, other: Any) -> Any:
        return self._with(other, smaller, min)

    def _with(
        self, other: Any, rule: Callable[..., Expression], plain: Any, swapped: bool = False
    ) -> Any:
        expr = _expression(other)
        if expr is None:
            if isinstance(other, (float, complex)):
                number = self.fixed()
                return plain(other, number) if swapped else plain(number, other)
            return NotImplemented
        made = rule(expr, self.expr) if swapped else rule(self.expr, expr)
        return made.number if made.number is not None else SymInt(made, self.env)

    def __repr__(self) -> str:
        return str(self.expr)

    def __format__(self, spec: str) -> str:
        return format(self.fixed(), spec) if spec else str(self)

    def __deepcopy__(self, memo: Any) -> SymInt:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"the size {self} belongs to a trace and cannot be pickled")


def _expression(value: Any) -> Expression | None:
    if isinstance(value, SymInt):
        return value.expr
    return constant(int(value)) if isinstance(value, int) else None


def _install() -> None:
    rules: dict[str, tuple[Any, Any]] = {
        "add": (lambda a, b: a + b, lambda a, b: a + b),
        "sub": (lambda a, b: a - b, lambda a, b: a - b),
        "mul": (lambda a, b: a * b, lambda a, b: a * b),
        "floordiv": (floor_div, lambda a, b: a // b),
        "mod": (modulo, lambda a, b: a % b),
    }
    for name, (rule, plain) in rules.items():
        setattr(SymInt, f"__{name}__", _method(rule, plain, False))
        setattr(SymInt, f"__r{name}__", _method(rule, plain, True))
    for name, sign in _COMPARED.items():
        setattr(SymInt, f"__{name}__", _comparison(sign))


_COMPARED = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


def _method(rule: Any, plain: Any, swapped: bool) -> Any:
    def method(self: SymInt, other: Any) -> Any:
        return self._with(other, rule, plain, swapped)

    return method


def _comparison(sign: str) -> Any:
    def method(self: SymInt, other: Any) -> Any:
        expr = _expression(other)
        if expr is not None:
            return SymBool(Relation(sign, self.expr, expr), self.env)
        if not isinstance(other, float):
            return NotImplemented
        return bool(COMPARED[sign](self.fixed(), other))  # type: ignore[arg-type]  # a float, too

    return method


class SymBool:
    """Whether something holds for sizes; asking (`if`, `bool`, `not`) guards the answer."""

    __slots__ = ("env", "relation")

    def __init__(self, relation: Relation, env: ShapeEnv) -> None:
        self.relation, self.env = relation, env

    def __bool__(self) -> bool:
        return self.env.evaluate_relation(self.relation)

    def __sym_not__(self) -> SymBool:
        return SymBool(self.relation.negated(), self.env)

    __invert__ = __sym_not__

    def __and__(self, other: Any) -> bool:
        return bool(self) and bool(other)

    def __or__(self, other: Any) -> bool:
        return bool(self) or bool(other)

    __rand__, __ror__ = __and__, __or__

    def __eq__(self, other: object) -> bool:
        return bool(self) == other

    def __hash__(self) -> int:
        return hash(bool(self))

    def __int__(self) -> int:
        return int(bool(self))

    __index__ = __int__

    def __repr__(self) -> str:
        return str(self.relation)


_install()
