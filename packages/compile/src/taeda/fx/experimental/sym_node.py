"""SymInt, SymFloat and SymBool: sizes, and questions about sizes, while a program is traced for any."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

import taeda

from ._expressions import (
    Expression,
    Relation,
    constant,
    floor_div,
    larger,
    modulo,
    smaller,
)
from ._logic import Question, joined
from ._reals import Real, real

if TYPE_CHECKING:
    from .symbolic_shapes import ShapeEnv

__all__ = ["SymBool", "SymFloat", "SymInt"]

_MOST_STEPS = 1000  # of the formula of a float; of more it is its number


class _Number:
    """What integers and floats that depend on sizes have in common."""

    __slots__ = ()
    expr: Any
    env: ShapeEnv

    @property
    def hint(self) -> Any:
        """The number in this call. GuardOnDataDependentSymNode if only data decide."""
        return self.env.size_hint(self.expr)

    def fixed(self) -> Any:
        """The number in this call, which is guarded."""
        hint = self.hint
        number = constant(hint) if isinstance(self.expr, Expression) else Real("number", hint)
        self.env.evaluate_relation(Relation("==", self.expr, number))
        return hint

    def __hash__(self) -> int:
        return hash(self.fixed())

    def __bool__(self) -> bool:
        return bool(SymBool(Relation("!=", self.expr, constant(0)), self.env))

    def __pos__(self) -> Any:
        return self

    def __neg__(self) -> Any:
        """Each kind of number has its own, which `__abs__` goes by."""
        raise NotImplementedError(f"{type(self).__name__} has no negative")

    def __abs__(self) -> Any:
        positive = SymBool(Relation(">=", self.expr, constant(0)), self.env)
        return self if positive else -self

    def __pow__(self, power: Any) -> Any:
        return _power(self, power)

    def __rpow__(self, base: Any) -> Any:
        return _power(base, self)

    def __divmod__(self, other: Any) -> tuple[Any, Any]:
        return self // other, self % other

    def __float__(self) -> float:
        return float(self.fixed())

    def __repr__(self) -> str:
        return str(self.expr)

    def __format__(self, spec: str) -> str:
        return format(self.fixed(), spec) if spec else str(self)

    def __deepcopy__(self, memo: Any) -> Any:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"the size {self} belongs to a trace and cannot be pickled")


class SymInt(_Number, taeda.SymInt):
    """An integer that depends on sizes; `hint` is what it is in this call.

    Integer arithmetic gives another one, and a float or a true division a `SymFloat`. A comparison
    gives a `SymBool`, and a branch on that one guards: the trace holds where the answer is the
    same. What needs the number itself (`range`, `int`, `float`, a key of a dict) fixes it: the
    trace holds for this number only.

    >>> from taeda.fx.experimental.symbolic_shapes import ShapeEnv
    >>> env = ShapeEnv()
    >>> n = env.create_symintnode(env.create_symbol(6, "x.size(0)"), hint=6)
    >>> n * 2 + 1, (n * 2 + 1).hint
    (2*s0 + 1, 13)
    """

    __slots__ = ("env", "expr")

    def __init__(self, expr: Expression, env: ShapeEnv) -> None:
        self.expr, self.env = expr, env

    def __int__(self) -> int:
        return int(self.fixed())

    __index__ = __trunc__ = __int__

    def __floor__(self) -> SymInt:
        return self

    __ceil__ = __sym_int__ = __floor__

    def __sym_float__(self) -> Any:
        return _float(self.env, "float", self.expr)

    def __round__(self, digits: int | None = None) -> Any:
        return self if digits is None or digits >= 0 else round(self.fixed(), digits)

    def __neg__(self) -> SymInt:
        return SymInt(-self.expr, self.env)

    def __pow__(self, power: Any) -> Any:
        if isinstance(power, int) and 0 <= power <= 8:
            made = constant(1)
            for _ in range(power):
                made = made * self.expr
            return SymInt(made, self.env)
        return _power(self, power)

    def __sym_max__(self, other: Any) -> Any:
        return _picked(self._with(other, larger, "max"), self, other)

    def __sym_min__(self, other: Any) -> Any:
        return _picked(self._with(other, smaller, "min"), self, other)

    def _with(
        self, other: Any, rule: Callable[..., Expression], name: str, swapped: bool = False
    ) -> Any:
        expr = _expression(other)
        if expr is None:
            return _float_with(self, other, name, swapped)
        made = rule(expr, self.expr) if swapped else rule(self.expr, expr)
        return made.number if made.number is not None else _noted(SymInt(made, self.env))


class SymFloat(_Number, taeda.SymFloat):
    """A float that depends on sizes; `hint` is what it is in this call.

    Arithmetic gives another one, with the bits that Python's operators give; a comparison gives a
    `SymBool`. What needs the number itself (`float`, `int`, `round`, `math.sqrt`) fixes it.

    >>> from taeda.fx.experimental.symbolic_shapes import ShapeEnv
    >>> env = ShapeEnv()
    >>> n = env.create_symintnode(env.create_symbol(6, "x.size(0)"), hint=6)
    >>> rate = n / 4
    >>> type(rate).__name__, rate.hint
    ('SymFloat', 1.5)
    """

    __slots__ = ("env", "expr")

    def __init__(self, expr: Real, env: ShapeEnv) -> None:
        self.expr, self.env = expr, env

    def __int__(self) -> int:
        return int(self.fixed())

    __trunc__ = __sym_int__ = __int__

    def __sym_float__(self) -> SymFloat:
        return self

    def __round__(self, digits: int | None = None) -> Any:
        return round(self.fixed(), digits)

    def __neg__(self) -> SymFloat:
        made: SymFloat = _float(self.env, "neg", self.expr)
        return made

    def __sym_max__(self, other: Any) -> Any:
        return _picked(_float_with(self, other, "max", False), self, other)

    def __sym_min__(self, other: Any) -> Any:
        return _picked(_float_with(self, other, "min", False), self, other)


def _expression(value: Any) -> Expression | None:
    if isinstance(value, SymInt):
        return value.expr
    return constant(int(value)) if isinstance(value, int) else None


def _term(value: Any) -> Expression | Real | None:
    """A number as a side of a relation or an operand; None for what is no real number."""
    if isinstance(value, SymFloat):
        return value.expr
    return Real("number", value) if isinstance(value, float) else _expression(value)


def _float(env: ShapeEnv, name: str, *parts: Any) -> Any:
    made = real(name, *parts)
    if made.number is not None:
        return made.number
    # A sum with itself doubles the formula, which would be read without end.
    return SymFloat(made, env).fixed() if made.steps > _MOST_STEPS else _noted(SymFloat(made, env))


def _float_with(one: Any, other: Any, name: str, swapped: bool) -> Any:
    if isinstance(other, complex):
        plain, number = getattr(operator, name, None), one.fixed()
        if plain is None:  # the larger of complex numbers
            return NotImplemented
        return plain(other, number) if swapped else plain(number, other)
    term = _term(other)
    if term is None:
        return NotImplemented
    return _float(one.env, name, *((term, one.expr) if swapped else (one.expr, term)))


def _power(base: Any, power: Any) -> Any:
    """A float stays one that depends on sizes; what may be an integer or complex is fixed."""
    terms = _term(base), _term(power)
    env = (base if isinstance(base, _Number) else power).env
    if None in terms:
        return NotImplemented
    hints = [v.hint if isinstance(v, _Number) else v for v in (base, power)]
    whole = all(isinstance(term, Expression) for term in terms)
    if not whole and hints[0] > 0:
        return _float(env, "pow", *terms)
    plain = [v.fixed() if isinstance(v, _Number) else v for v in (base, power)]
    return plain[0] ** plain[1]


def _picked(made: Any, one: Any, other: Any) -> Any:
    if made is NotImplemented:
        raise TypeError(f"{one} and a {type(other).__name__} have no order")
    return made


def _noted(made: Any) -> Any:
    if made.env.writes_all:
        made.env.written.append(made.expr)
    return made


def _install() -> None:
    rules: dict[str, Any] = {
        "add": lambda a, b: a + b,
        "sub": lambda a, b: a - b,
        "mul": lambda a, b: a * b,
        "floordiv": floor_div,
        "mod": modulo,
    }
    for name in (*rules, "truediv"):
        for swapped in (False, True):
            method = f"__{'r' * swapped}{name}__"
            setattr(SymFloat, method, _float_method(name, swapped))
            whole = _method(rules[name], name, swapped) if name in rules else None
            setattr(SymInt, method, whole or getattr(SymFloat, method))
    for name, sign in _COMPARED.items():
        setattr(SymInt, f"__{name}__", _comparison(sign))
        setattr(SymFloat, f"__{name}__", _comparison(sign))


_COMPARED = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


def _method(rule: Any, name: str, swapped: bool) -> Any:
    def method(self: SymInt, other: Any) -> Any:
        return self._with(other, rule, name, swapped)

    return method


def _float_method(name: str, swapped: bool) -> Any:
    def method(self: Any, other: Any) -> Any:
        return _float_with(self, other, name, swapped)

    return method


def _comparison(sign: str) -> Any:
    def method(self: Any, other: Any) -> Any:
        term = _term(other)
        return (
            NotImplemented if term is None else SymBool(Relation(sign, self.expr, term), self.env)
        )

    return method


class SymBool(taeda.SymBool):
    """Whether something holds for sizes; asking (`if`, `bool`, `not`, `and`, `or`) guards the answer.
    `&`, `|` and `~` ask nothing: they give another one.

    >>> from taeda.fx.experimental.symbolic_shapes import ShapeEnv
    >>> env = ShapeEnv()
    >>> n = env.create_symintnode(env.create_symbol(6, "x.size(0)"), hint=6)
    >>> asked = (n > 4) & (n < 8)
    >>> env.format_guards()
    ''
    >>> "between" if asked else "outside"
    'between'
    """

    __slots__ = ("env", "relation")

    def __init__(self, relation: Question, env: ShapeEnv) -> None:
        self.relation, self.env = relation, env

    def __bool__(self) -> bool:
        return self.env.evaluate_relation(self.relation)

    def asserted(self, message: str) -> bool:
        """Whether only data decide it: then the run asserts it, and it is taken for granted."""
        relation = self.env.replace(self.relation)
        if self.env.known(relation) is not None or not relation.symbols() & self.env.chosen:
            return False
        self.env.defer_runtime_assert(relation, message or f"{relation} does not hold")
        return True

    def __sym_not__(self) -> SymBool:
        return SymBool(self.relation.negated(), self.env)

    __invert__ = __sym_not__

    def __and__(self, other: Any) -> Any:
        return self._joined("and", other)

    def __or__(self, other: Any) -> Any:
        return self._joined("or", other)

    __rand__, __ror__ = __and__, __or__

    def _joined(self, sign: str, other: Any) -> Any:
        if isinstance(other, SymBool):
            return SymBool(joined(sign, self.relation, other.relation), self.env)
        if not isinstance(other, bool):
            return NotImplemented
        return other if other == (sign == "or") else self

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
