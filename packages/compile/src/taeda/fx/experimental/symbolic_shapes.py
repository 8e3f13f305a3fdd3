"""Sizes as symbols: which there are, what they are in this call, and what was asked of them.

>>> env = ShapeEnv()
>>> n = env.create_symintnode(env.create_symbol(6, "x.size(0)"), hint=6)
>>> (n * 2 - n) // 2
(s0 // 2)
>>> "large" if n > 4 else "small"
'large'
>>> env.format_guards()
' - s0 > 4'
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ._expressions import Expression, Relation, constant, symbol
from ._parsed import parsed
from ._questions import (
    canonicalize_bool_expr,
    check_consistent,
    constrain_unify,
    guard_size_oblivious,
    is_accessor_node,
    sym_eq,
)
from .sym_node import SymBool, SymInt

__all__ = [
    "GuardOnDataDependentSymNode", "ShapeEnv", "canonicalize_bool_expr", "check_consistent",
    "constrain_unify", "guard_size_oblivious", "has_free_symbols", "is_accessor_node",
    "is_concrete_bool", "is_concrete_int", "statically_known_true", "sym_eq",
]  # fmt: skip


class GuardOnDataDependentSymNode(RuntimeError):
    """The program branches on what depends on the values of tensors, or on a size that does."""


class ShapeEnv:
    """The symbols of one trace, and its guards: what must hold for the trace to be right.

    `specialize_zero_one`: the sizes 0 and 1 are numbers, for broadcasting treats them apart.
    `duck_shape`: equal sizes are one symbol, so that the trace holds where they are equal.
    """

    def __init__(self, *, specialize_zero_one: bool = True, duck_shape: bool = True) -> None:
        self.specialize_zero_one, self.duck_shape = specialize_zero_one, duck_shape
        self.var_to_val: dict[str, int] = {}
        self.var_to_sources: dict[str, list[str]] = {}
        self.guards: list[Relation] = []
        self.replacements: dict[str, Expression] = {}
        self.frozen = False
        self._suppressed = 0

    # ---- symbols ----

    def create_symbol(self, val: int, source: Any) -> Expression:
        """The symbol of a size that is `val` in this call; `source` says where it is read, as text.
        A number where the environment does not tell it from others.
        """
        if type(val) is not int:
            raise TypeError(f"create_symbol: val must be an int, got {type(val).__name__}: {val!r}")
        if val in (0, 1) and self.specialize_zero_one:
            return constant(val)
        return self._new(self._same(val) or f"s{len(self.var_to_val)}", val, source)

    def create_unspecified_symbol(self, val: int, source: Any) -> Expression:
        """A symbol of its own for an integer that is no size: 0 and 1 have one as well, and equal
        integers have two.
        """
        if type(val) is not int:
            raise TypeError(f"create_unspecified_symbol: val must be an int, got {val!r:.60}")
        return self._new(f"s{len(self.var_to_val)}", val, source)

    def create_unspecified_symint_and_symbol(
        self, value: int, source: Any
    ) -> tuple[SymInt, Expression]:
        """The same with the integer that stands for it."""
        made = self.create_unspecified_symbol(value, source)
        return SymInt(made, self), made

    def _new(self, name: str, val: int, source: Any) -> Expression:
        self.var_to_val[name] = val
        self.var_to_sources.setdefault(name, []).append(str(source))
        return symbol(name)

    def _same(self, val: int) -> str | None:
        known = (name for name, hint in self.var_to_val.items() if hint == val)
        return next(known, None) if self.duck_shape else None

    def create_symintnode(self, sym: Expression, *, hint: int | None = None) -> SymInt | int:
        """The integer that stands for an expression; an int if it is one. ValueError if `hint` is
        not what the expression is in this call.
        """
        if hint is not None and self.size_hint(sym) != hint:
            raise ValueError(f"the hint of {sym} is {self.size_hint(sym)}, got {hint}")
        return sym.number if sym.number is not None else SymInt(sym, self)

    def add_var_to_val(self, expr: Expression, val: int) -> None:
        """Say what a symbol of one's own is in this call. ValueError for what is no new symbol."""
        names = expr.symbols()
        if len(names) != 1 or symbol(next(iter(names))) != expr or names & set(self.var_to_val):
            raise ValueError(f"add_var_to_val wants a new symbol, got {expr}")
        self.var_to_val[next(iter(names))] = val

    def size_hint(self, expr: Expression) -> int:
        """What an expression is in this call."""
        return expr.value(self.var_to_val)

    # ---- what is known ----

    def replace(self, expr: Expression) -> Expression:
        """The expression with the symbols that guards fixed as numbers."""
        return expr.replaced(self.replacements)

    simplify = replace

    def evaluate_relation(self, relation: Relation) -> bool:
        """Whether a relation holds in this call; guarded, unless it holds for all sizes."""
        relation = relation.replaced(self.replacements)
        decided = relation.decided()
        if decided is not None:
            return decided
        holds = relation.value(self.var_to_val)
        self._guard(relation if holds else relation.negated())
        return holds

    def _guard(self, relation: Relation) -> None:
        if self._suppressed or relation in self.guards:
            return
        if self.frozen:
            raise RuntimeError(
                f"the shape environment is frozen, and {relation} would be a new guard"
            )
        self.guards.append(relation)
        name = _fixed_symbol(relation)
        if name is not None:
            self.replacements[name] = relation.right

    def check_equal(self, other: ShapeEnv) -> None:
        """AssertionError, naming the field, if two environments differ."""
        for name in ("var_to_val", "var_to_sources", "guards", "replacements"):
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine != theirs:
                raise AssertionError(f"the environments differ in {name}: {mine} and {theirs}")

    def freeze(self) -> None:
        """From now on a new guard is a RuntimeError."""
        self.frozen = True

    @contextmanager
    def suppress_guards(self) -> Iterator[None]:
        """Questions in here are answered, but not guarded."""
        self._suppressed += 1
        try:
            yield
        finally:
            self._suppressed -= 1

    # ---- guards ----

    def get_nontrivial_guards(self) -> list[Relation]:
        """The guards that sizes may break."""
        return [g for g in self.guards if g.decided() is None]

    def format_guards(self, verbose: bool = False) -> str:
        """The guards as lines of text; `verbose` says where each symbol is read."""
        return "\n".join(f" - {g}{self._read(g) if verbose else ''}" for g in self.guards)

    def _read(self, guard: Relation) -> str:
        places = [f"{n} is {self.var_to_sources.get(n, ['?'])[0]}" for n in sorted(guard.symbols())]
        return f" ({', '.join(places)})"

    def get_pruned_guards(self, symints: Any) -> list[Relation]:
        """The guards that say something of the symbols of these integers, and of no others."""
        names = {n for s in symints if isinstance(s, SymInt) for n in s.expr.symbols()}
        return [g for g in self.guards if g.symbols() <= names]

    def produce_guards_expression(self, placeholders: Any) -> str | None:
        """The guards as text in `t0`, `t1` and so on, the integers that stand at these places, for
        `evaluate_guards_expression`; None if there are none. ValueError where a guard depends on a
        symbol that stands at none of them by itself.
        """
        names: dict[str, Expression] = {}
        for place, wanted in enumerate(placeholders):
            expr = wanted.expr if isinstance(wanted, SymInt) else wanted
            if isinstance(expr, Expression) and len(expr.symbols()) == 1:
                (name,) = expr.symbols()
                if expr == symbol(name):
                    names.setdefault(name, symbol(f"t{place}"))
        for guard in self.guards:
            if not guard.symbols() <= names.keys():
                free = ", ".join(sorted(guard.symbols() - names.keys()))
                raise ValueError(f"{guard} depends on {free}, which is none of the integers")
        return " and ".join(f"({g.replaced(names)})" for g in self.guards) or None

    def evaluate_guards_expression(self, code: str, args: Any) -> bool:
        """Whether guards that `produce_guards_expression` wrote hold for these integers."""
        return bool(parsed(code, {f"t{place}": value for place, value in enumerate(args)}))

    def deserialize_symexpr(self, code: str) -> Any:
        """The integer, or the relation, that a formula in the symbols stands for, as `str` writes it."""
        return parsed(code, {name: SymInt(symbol(name), self) for name in self.var_to_val})

    def evaluate_symexpr(self, code: str) -> int | bool:
        """What such a formula is in this call; nothing is guarded."""
        made: int | bool = parsed(code, self.var_to_val)
        return made

    def evaluate_sym_node(self, sym_node: SymInt | SymBool) -> int | bool:
        """What an integer or a relation is in this call, which is guarded."""
        return sym_node.fixed() if isinstance(sym_node, SymInt) else bool(sym_node)

    def bind_symbols(self, placeholders: Any, args: Any) -> dict[str, int]:
        """What the symbols are for other arguments. `placeholders` are, for each argument, the
        sizes that the trace gave it: a tuple for a tensor, one expression for an integer.

        ValueError where one symbol would be two numbers, or where sizes are not those of the trace.
        """
        found: dict[str, int] = {}
        for wanted, value in zip(placeholders, args, strict=True):
            self._bind(wanted, value, found)
        return found

    def _bind(self, wanted: Any, value: Any, found: dict[str, int]) -> None:
        if isinstance(wanted, tuple):
            sizes = tuple(getattr(value, "shape", value))
            if len(sizes) != len(wanted):
                raise ValueError(f"wanted {len(wanted)} dimensions, got {len(sizes)}")
            for one, size in zip(wanted, sizes, strict=True):
                self._bind(one, size, found)
            return
        wanted = wanted.expr if isinstance(wanted, SymInt) else wanted
        number = wanted.number if isinstance(wanted, Expression) else wanted
        if number is not None:
            if number != value:
                raise ValueError(f"a size is {value}, and the trace holds for {number}")
        elif found.setdefault(str(wanted), value) != value:
            raise ValueError(
                f"{wanted} is {found[str(wanted)]} in one place and {value} in another"
            )

    def evaluate_guards_for_args(self, placeholders: Any, args: Any) -> bool:
        """Whether the trace holds for these arguments: sizes fit and the guards hold."""
        return not self.unfit_for_args(placeholders, args)

    def unfit_for_args(self, placeholders: Any, args: Any) -> str:
        """Why the trace does not hold for these arguments; "" if it does."""
        try:
            values = self.bind_symbols(placeholders, args)
        except ValueError as why:
            return str(why)
        for name, value in values.items():
            if self.specialize_zero_one and value in (0, 1):
                return f"{name} is {value}, and sizes of 0 and 1 have traces of their own"
        known = (guard for guard in self.guards if guard.symbols() <= values.keys())
        broken = (guard for guard in known if not guard.value(values))
        return next((f"{guard} does not hold" for guard in broken), "")


def _fixed_symbol(relation: Relation) -> str | None:
    """The symbol that a guard says is a number."""
    names = relation.left.symbols()
    if relation.sign != "==" or relation.right.number is None or len(names) != 1:
        return None
    (name,) = names
    return name if relation.left == symbol(name) else None


def is_concrete_int(a: int | SymInt) -> bool:
    """Whether an integer is a number already: an int, or a size that guards have fixed."""
    if isinstance(a, SymInt):
        return a.env.replace(a.expr).number is not None
    return isinstance(a, int)


def is_concrete_bool(a: bool | SymBool) -> bool:
    """Whether a bool has its answer already: nothing would be guarded by asking."""
    if isinstance(a, SymBool):
        return a.relation.replaced(a.env.replacements).decided() is not None
    return isinstance(a, bool)


def has_free_symbols(val: Any) -> bool:
    """Whether a value, or something in a tuple, list or dict of values, depends on a symbol."""
    if isinstance(val, SymInt):
        return bool(val.expr.symbols())
    if isinstance(val, SymBool):
        return bool(val.relation.symbols())
    if isinstance(val, dict):
        return any(map(has_free_symbols, val.values()))
    return isinstance(val, (tuple, list)) and any(map(has_free_symbols, val))


def statically_known_true(x: bool | SymBool) -> bool:
    """Whether something holds for all sizes that the guards allow, as far as fixed sizes and equal
    polynomials tell. Guards nothing, so False says only that it is not known.
    """
    if isinstance(x, SymBool):
        return x.relation.replaced(x.env.replacements).decided() is True
    return x is True
