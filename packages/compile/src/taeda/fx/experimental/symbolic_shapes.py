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

import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ._arguments import ForArguments
from ._conditions import axioms, implications, implied
from ._contexts import (
    DimDynamic,
    EqualityConstraint,
    RelaxedUnspecConstraint,
    ShapeEnvSettings,
    StatefulSymbolicContext,
    StatelessSymbolicContext,
    StrictMinMaxConstraint,
    SubclassSymbolicContext,
    SymbolicContext,
)
from ._dim_constraints import DimConstraints
from ._expressions import Expression, Relation, constant, symbol
from ._known import (
    constrain_range,
    definitely_false,
    definitely_true,
    guard_or_false,
    guard_or_true,
    has_free_symbols,
    has_free_unbacked_symbols,
    hint_int,
    is_concrete_bool,
    is_concrete_float,
    is_concrete_int,
    lru_cache,
    statically_known_true,
    sym_and,
    sym_or,
)
from ._logic import Joined, Question
from ._parsed import parsed
from ._produced import ConstraintViolationError, ShapeGuards, guards_in_sources
from ._questions import (
    canonicalize_bool_expr,
    check_consistent,
    constrain_unify,
    guard_size_oblivious,
    is_accessor_node,
    sym_eq,
)
from ._ranges import ValueRanges, bounds, narrowed, settled
from ._reals import Real, real_symbol
from ._sizes_of import symbolic_layout
from ._unbacked import (
    CallMethodKey,
    ConvertIntKey,
    DivideByKey,
    InnerTensorKey,
    PendingUnbackedSymbolNotFound,
    PropagateUnbackedSymInts,
    compute_unbacked_bindings,
    rebind_unbacked,
    resolve_unbacked_bindings,
)
from .sym_node import SymBool, SymFloat, SymInt

__all__ = [
    "CallMethodKey", "ConstraintViolationError", "ConvertIntKey", "DimConstraints", "DimDynamic",
    "DivideByKey", "EqualityConstraint", "GuardOnDataDependentSymNode", "InnerTensorKey",
    "PendingUnbackedSymbolNotFound", "PropagateUnbackedSymInts", "RelaxedUnspecConstraint",
    "ShapeEnv", "ShapeEnvSettings", "StatefulSymbolicContext", "StatelessSymbolicContext",
    "StrictMinMaxConstraint", "SubclassSymbolicContext", "SymbolicContext", "ValueRanges",
    "canonicalize_bool_expr", "check_consistent", "compute_unbacked_bindings", "constrain_range",
    "constrain_unify", "definitely_false", "definitely_true", "guard_or_false", "guard_or_true",
    "guard_size_oblivious", "has_free_symbols", "has_free_unbacked_symbols", "hint_int",
    "is_accessor_node", "is_concrete_bool", "is_concrete_float", "is_concrete_int", "lru_cache",
    "rebind_unbacked", "resolve_unbacked_bindings", "statically_known_true", "sym_and", "sym_eq",
    "sym_or",
]  # fmt: skip

_serials = itertools.count()


class GuardOnDataDependentSymNode(RuntimeError):
    """The program branches on what depends on the values of tensors, or on a size that does."""


class ShapeEnv(ForArguments):
    """The symbols of one trace, and its guards: what must hold for the trace to be right.

    `specialize_zero_one`: the sizes 0 and 1 are numbers, for broadcasting treats them apart.
    `duck_shape`: equal sizes are one symbol, so that the trace holds where they are equal.
    `assume_static_by_default`: sizes of a tensor are numbers unless a context says otherwise.
    """

    def __init__(
        self,
        *,
        assume_static_by_default: bool = False,
        specialize_zero_one: bool = True,
        duck_shape: bool = True,
    ) -> None:
        self.settings = ShapeEnvSettings(assume_static_by_default, specialize_zero_one, duck_shape)
        self.serial = next(_serials)
        self.var_to_val: dict[str, Any] = {}
        self.var_to_range: dict[str, ValueRanges] = {}
        self.var_to_sources: dict[str, list[str]] = {}
        self.var_to_constraint: dict[str, Any] = {}
        self.guards: list[Question] = []
        self.replacements: dict[str, Any] = {}
        self.unbacked_renamings: dict[str, str] = {}
        self.pending_fresh_unbacked_symbols: list[Expression | Real] = []
        self.deferred_runtime_asserts: list[tuple[Question, str]] = []
        self.writes_all = False  # whether a trace makes nodes of all formulas, used or not
        self.written: list[Any] = []  # those
        self.frozen = self.runtime_asserts_frozen = False
        self._suppressed = self._ignored = 0
        self._ducks: dict[int, str] = {}
        self._unbacked: set[str] = set()
        self.chosen: set[str] = set()  # symbols that data decide, whose number here is a choice
        self._apart: set[str] = set()  # symbols of sizes that are neither 0 nor 1

    @property
    def specialize_zero_one(self) -> bool:
        """Whether the sizes 0 and 1 are numbers."""
        return self.settings.specialize_zero_one

    @property
    def duck_shape(self) -> bool:
        """Whether equal sizes are one symbol."""
        return self.settings.duck_shape

    def cleanup(self) -> None:
        """Forget the symbols, guards and formulas: the trace is over."""
        for kept in (
            *(self.var_to_val, self.var_to_range, self.var_to_sources, self.var_to_constraint),
            *(self.guards, self.replacements, self.unbacked_renamings, self._ducks, self._unbacked),
            self._apart,
            *(self.pending_fresh_unbacked_symbols, self.deferred_runtime_asserts),
        ):
            kept.clear()

    # ---- symbols ----

    def create_symbol(
        self,
        val: int,
        source: Any,
        dynamic_dim: DimDynamic = DimDynamic.DUCK,
        constraint_dim: Any = None,
        do_not_specialize_zero_one: bool = False,
    ) -> Expression:
        """The symbol of a size that is `val` in this call; `source` says where it is read, as text.
        A number where the environment does not tell it from others.

        `dynamic_dim` says what stands for the size, `constraint_dim` what `produce_guards` demands
        of it. TypeError for what is no int, ConstraintViolationError where a demand and the size
        exclude each other.
        """
        if type(val) is not int:
            raise TypeError(f"create_symbol: val must be an int, got {type(val).__name__}: {val!r}")
        if dynamic_dim is DimDynamic.UNBACKED:
            return self._unbacked_symbol("u", ValueRanges(0), source)
        special = val in (0, 1) and self.specialize_zero_one and not do_not_specialize_zero_one
        if special or dynamic_dim is DimDynamic.STATIC:
            if isinstance(constraint_dim, RelaxedUnspecConstraint):
                raise ConstraintViolationError(f"{constraint_dim.render(source)}, and it is {val}")
            return constant(val)
        if isinstance(constraint_dim, StrictMinMaxConstraint) and val not in constraint_dim.vr:
            raise ConstraintViolationError(f"{constraint_dim.render(source)}, and it is {val}")
        duck = dynamic_dim is DimDynamic.DUCK and self.duck_shape and constraint_dim is None
        known = self._ducks.get(val) if duck else None
        made = self._new(known or self._name(), val, source)
        if known is None:
            self._limit(str(made), constraint_dim, do_not_specialize_zero_one)
        if duck:
            self._ducks.setdefault(val, str(made))
        return made

    def _limit(self, name: str, demanded: Any, any_size: bool) -> None:
        """The range in which a symbol of a size is."""
        least = 2 if self.specialize_zero_one and not any_size else 0
        self.var_to_range[name] = ValueRanges(least)
        if least == 2:
            self._apart.add(name)
        if demanded is not None:
            self.var_to_constraint[name] = demanded

    def create_unspecified_symbol(self, val: float, source: Any) -> Any:
        """A symbol of its own for a number that is no size: 0 and 1 have one as well, and equal
        numbers have two. A float has one for floats.
        """
        if type(val) not in (int, float):
            raise TypeError(
                f"create_unspecified_symbol: val must be an int or a float, got {val!r:.60}"
            )
        made = self._new(self._name("s" if type(val) is int else "zf"), val, source)
        return made if type(val) is int else real_symbol(str(made))

    def _name(self, kind: str = "s") -> str:
        return f"{kind}{sum(name.rstrip('0123456789') == kind for name in self.var_to_sources)}"

    def create_symbolic_sizes_strides_storage_offset(
        self, ex: Any, source: Any, *, symbolic_context: SymbolicContext | None = None
    ) -> tuple[tuple[SymInt | int, ...], tuple[SymInt | int, ...], SymInt | int]:
        """What stands for the sizes, the strides and the offset of a tensor that is read at
        `source`. Strides are formulas in the sizes where one gives them.

        >>> import taeda
        >>> ShapeEnv().create_symbolic_sizes_strides_storage_offset(taeda.ones(3, 4, 1), "x")
        ((s0, s1, 1), (s1, 1, 1), 0)
        """
        sizes, strides, offset = symbolic_layout(self, ex, str(source), symbolic_context)
        made = [tuple(map(self.create_symintnode, part)) for part in (sizes, strides)]
        return made[0], made[1], self.create_symintnode(offset)

    # ---- symbols without a number in this call ----

    def create_unbacked_symint(self) -> SymInt:
        """An integer that only data decide: to branch on it is GuardOnDataDependentSymNode."""
        return SymInt(self._unbacked_symbol("u", ValueRanges()), self)

    def create_unbacked_symfloat(self) -> SymFloat:
        """A float that only data decide."""
        return SymFloat(self._unbacked_symbol("zuf", None), self)

    def create_unbacked_symbool(self) -> SymBool:
        """A bool that only data decide: whether an integer, 0 or 1, is 1."""
        made = self._unbacked_symbol("u", ValueRanges(0, 1))
        return SymBool(Relation("==", made, constant(1)), self)

    def _unbacked_symbol(self, kind: str, limits: ValueRanges | None, source: Any = "data") -> Any:
        name = self._name(kind)
        self.var_to_sources[name] = [str(source)]
        self._unbacked.add(name)
        if limits is not None:
            self.var_to_range[name] = limits
        made = symbol(name) if kind == "u" else real_symbol(name)
        if not self._ignored:
            self.pending_fresh_unbacked_symbols.append(made)
        return made

    @contextmanager
    def ignore_fresh_unbacked_symbols(self) -> Iterator[None]:
        """Symbols without a number that are made in here need not be bound by
        `compute_unbacked_bindings`.
        """
        self._ignored += 1
        try:
            yield
        finally:
            self._ignored -= 1

    def is_unbacked_symint(self, symbol: Expression | Real) -> bool:
        """Whether a formula is a symbol without a number in this call."""
        return str(symbol) in self._unbacked

    def set_unbacked_var_to_val(self, k: Expression, v: int) -> None:
        """Say what a symbol that only data decide is in this call. ValueError for another one, and
        for a number outside of its range.
        """
        if not self.is_unbacked_symint(k):
            raise ValueError(f"{k} is no symbol that only data decide")
        if v not in self.bound_sympy(k):
            raise ValueError(f"{k} cannot be {v}: its range is {self.bound_sympy(k)}")
        self.var_to_val[str(k)] = v

    def create_unspecified_symint_and_symbol(
        self, value: int, source: Any
    ) -> tuple[SymInt, Expression]:
        """The same with the integer that stands for it."""
        made = self.create_unspecified_symbol(value, source)
        return SymInt(made, self), made

    def _new(self, name: str, val: float, source: Any) -> Expression:
        self.var_to_val[name] = val
        self.var_to_sources.setdefault(name, []).append(str(source))
        return symbol(name)

    def create_symintnode(self, sym: Expression, *, hint: int | None = None) -> SymInt | int:
        """The integer that stands for an expression; an int if it is one. ValueError if `hint` is
        not what the expression is in this call.
        """
        if hint is not None and self.size_hint(sym) != hint:
            raise ValueError(f"the hint of {sym} is {self.size_hint(sym)}, got {hint}")
        return sym.number if sym.number is not None else SymInt(sym, self)

    def create_symfloatnode(self, sym: Real, *, hint: float | None = None) -> SymFloat | float:
        """The float that stands for an expression; a float if it is one. ValueError if `hint` is not
        what the expression is in this call.
        """
        if hint is not None and self.size_hint(sym) != hint:
            raise ValueError(f"the hint of {sym} is {self.size_hint(sym)}, got {hint}")
        return sym.number if sym.number is not None else SymFloat(sym, self)

    def create_symboolnode(self, sym: Question) -> SymBool | bool:
        """The answer that stands for a question; a bool if it is the same for all sizes."""
        decided = sym.decided()
        return SymBool(sym, self) if decided is None else decided

    def add_var_to_val(self, expr: Expression, val: int) -> None:
        """Say what a symbol of one's own is in this call. ValueError for what is no new symbol."""
        names = expr.symbols()
        if len(names) != 1 or symbol(next(iter(names))) != expr or names & set(self.var_to_val):
            raise ValueError(f"add_var_to_val wants a new symbol, got {expr}")
        self.var_to_val[next(iter(names))] = val

    def size_hint(self, expr: Expression | Real) -> Any:
        """What an expression is in this call. GuardOnDataDependentSymNode if only data decide."""
        try:
            return expr.value(self.var_to_val)
        except KeyError:
            expr = self.replace(expr)
        try:
            return expr.value(self.var_to_val)
        except KeyError:
            raise _data_decide(expr) from None

    # ---- what is known ----

    def replace(self, expr: Any) -> Any:
        """The expression with the symbols that guards fixed as numbers, and renamed ones renamed."""
        while expr.symbols() & self.replacements.keys():
            expr = expr.replaced(self.replacements)
        return expr

    simplify = replace

    def bound_sympy(self, expr: Expression | Real) -> ValueRanges:
        """Numbers among which an expression's are, by what is known of its symbols."""
        return bounds(self.replace(expr), self.var_to_range)

    def get_axioms(
        self, symbols: Sequence[Expression] | None = None, compute_hint: bool = False
    ) -> tuple[Question, ...]:
        """What is known to hold: guards, runtime assertions and the ends of ranges; of `symbols`
        only, if they are given. With `compute_hint` other symbols are their numbers in this call.
        """
        return axioms(self, symbols, compute_hint)

    def get_implications(self, e: Question) -> tuple[tuple[Question, bool], ...]:
        """What follows from a question that holds, with the answers: (`a <= b`, True) follows from
        `a < b`, and so on.
        """
        return implications(e)

    def known(self, relation: Question) -> bool | None:
        """The answer to a question, if it is known without a guard."""
        relation = self.replace(relation)
        decided = settled(relation, self.var_to_range)
        return implied(relation, self.get_axioms()) if decided is None else decided

    def evaluate_relation(self, relation: Question) -> bool:
        """Whether a relation holds in this call; guarded, unless that is known already.
        GuardOnDataDependentSymNode if only data decide.
        """
        decided = self.known(relation)
        if decided is not None:
            return decided
        relation = self.replace(relation)
        if relation.symbols() & self.chosen:
            raise _data_decide(relation)
        try:
            holds = bool(relation.value(self.var_to_val))
        except KeyError:
            raise _data_decide(relation) from None
        self._guard(relation if holds else relation.negated())
        return holds

    def _guard(self, relation: Question) -> None:
        if isinstance(relation, Joined) and relation.sign == "and":
            for part in relation.parts:
                self._guard(part)
            return
        if self._suppressed or relation in self.guards:
            return
        if self.frozen:
            raise RuntimeError(
                f"the shape environment is frozen, and {relation} would be a new guard"
            )
        self.guards.append(relation)
        self._learn(relation)

    def _learn(self, relation: Question) -> None:
        """What a relation that holds says of one symbol."""
        if isinstance(relation, Joined):
            return
        name = _fixed_symbol(relation)
        if name is not None:
            self.replacements[name] = relation.right
        found = narrowed(relation, self.var_to_range)
        if found is not None:
            self.var_to_range[found[0]] = found[1]

    # ---- assertions for the run ----

    def defer_runtime_assert(self, orig_expr: Question, msg: str) -> None:
        """Take for granted what only the run can tell; it is in `deferred_runtime_asserts` with
        `msg`. What is known already is not. RuntimeError if it is known not to hold, and after
        `freeze_runtime_asserts`.
        """
        decided = self.known(orig_expr)
        if decided is False:
            raise RuntimeError(f"{orig_expr} cannot hold: {msg}")
        if decided is None and self.runtime_asserts_frozen:
            raise RuntimeError(f"runtime assertions are frozen, and {orig_expr} would be a new one")
        if decided is None:
            self.deferred_runtime_asserts.append((orig_expr, msg))
            self._learn(orig_expr)

    def freeze_runtime_asserts(self) -> None:
        """From now on a new runtime assertion is a RuntimeError."""
        self.runtime_asserts_frozen = True

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

    def get_nontrivial_guards(self) -> list[Question]:
        """The guards that sizes may break."""
        return [g for g in self.guards if g.decided() is None]

    def format_guards(self, verbose: bool = False) -> str:
        """The guards as lines of text; `verbose` says where each symbol is read."""
        return "\n".join(f" - {g}{self._read(g) if verbose else ''}" for g in self.guards)

    def _read(self, guard: Question) -> str:
        places = [f"{n} is {self.var_to_sources.get(n, ['?'])[0]}" for n in sorted(guard.symbols())]
        return f" ({', '.join(places)})"

    def produce_guards(
        self, placeholders: Any, sources: Sequence[Any], **options: Any
    ) -> list[str]:
        """What must hold, as Python text in the places where the arguments are read. The arguments
        are as in `bind_symbols`, and `sources` has the name of each.

        With `ignore_static=False` the sizes that are numbers are in it. `input_contexts` and
        `equalities_inputs` are demands on sizes: ConstraintViolationError names those that the
        guards break. ValueError for a guard on what no argument tells.

        >>> env = ShapeEnv()
        >>> n = env.create_symintnode(env.create_symbol(6, "x"))
        >>> 2 * n > 8
        2*s0 > 8
        >>> bool(2 * n > 8)
        True
        >>> env.produce_guards([(n, n)], ["x"])
        ['x.size(1) == x.size(0)', '2*x.size(0) > 8', '5 <= x.size(0)']
        """
        return guards_in_sources(self, placeholders, sources, **options)[0].exprs

    def produce_guards_verbose(
        self,
        placeholders: Any,
        sources: Sequence[Any],
        *,
        langs: Sequence[str] = ("python", "verbose_python"),
        **options: Any,
    ) -> list[ShapeGuards]:
        """The same for each of `langs`, as objects whose `exprs` are the texts: "python", and
        "verbose_python", which says behind each what the sizes were.
        """
        return guards_in_sources(self, placeholders, sources, langs=langs, **options)

    def get_pruned_guards(self, symints: Any) -> list[Question]:
        """The guards that say something of the symbols of these integers, and of no others."""
        names = {n for s in symints if isinstance(s, SymInt) for n in s.expr.symbols()}
        return [g for g in self.guards if g.symbols() <= names]

    def deserialize_symexpr(self, code: str) -> Any:
        """The integer, or the relation, that a formula in the symbols stands for, as `str` writes it."""
        return parsed(code, {name: SymInt(symbol(name), self) for name in self.var_to_val})

    def evaluate_symexpr(self, code: str) -> int | bool:
        """What such a formula is in this call; nothing is guarded."""
        made: int | bool = parsed(code, self.var_to_val)
        return made

    def evaluate_sym_node(self, sym_node: SymInt | SymFloat | SymBool) -> Any:
        """What a number or a relation is in this call, which is guarded."""
        return bool(sym_node) if isinstance(sym_node, SymBool) else sym_node.fixed()


def _fixed_symbol(relation: Relation) -> str | None:
    """The symbol that a guard says is a number."""
    if isinstance(relation.left, Real) or isinstance(relation.right, Real):
        return None
    names = relation.left.symbols()
    if relation.sign != "==" or relation.right.number is None or len(names) != 1:
        return None
    (name,) = names
    return name if relation.left == symbol(name) else None


def _data_decide(what: Any) -> GuardOnDataDependentSymNode:
    return GuardOnDataDependentSymNode(
        f"only data decide {what}, so no guard can be made of it. A branch becomes taeda.cond, and "
        "what always holds is said by taeda._check. Ask with guard_or_false, "
        "guard_or_true or statically_known_true, or say its range with constrain_range"
    )
