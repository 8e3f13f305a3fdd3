"""What is known of a value that may depend on sizes, and how to ask with or without a guard."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from typing import Any

from taeda import Tensor

from ._expressions import constant
from ._ranges import ValueRanges
from .sym_node import SymBool, SymFloat, SymInt

__all__ = [
    "constrain_range", "definitely_false", "definitely_true", "guard_or_false", "guard_or_true",
    "has_free_symbols", "has_free_unbacked_symbols", "hint_int", "is_concrete_bool",
    "is_concrete_float", "is_concrete_int", "lru_cache", "statically_known_true", "sym_and", "sym_or",
]  # fmt: skip


def is_concrete_int(a: int | SymInt) -> bool:
    """Whether an integer is a number already: an int, or a size that guards have fixed.

    >>> from taeda.fx.experimental.symbolic_shapes import ShapeEnv
    >>> env = ShapeEnv()
    >>> n = env.create_symintnode(env.create_symbol(6, "x.size(0)"), hint=6)
    >>> is_concrete_int(6), is_concrete_int(n)
    (True, False)
    """
    if isinstance(a, SymInt):
        return a.env.replace(a.expr).number is not None
    return isinstance(a, int)


def is_concrete_float(a: float | SymFloat) -> bool:
    """Whether a float is a number already: a float, or one of sizes that guards have fixed.

    >>> from taeda.fx.experimental.symbolic_shapes import ShapeEnv
    >>> env = ShapeEnv()
    >>> n = env.create_symintnode(env.create_symbol(6, "x.size(0)"), hint=6)
    >>> is_concrete_float(0.5), is_concrete_float(n / 4)
    (True, False)
    """
    if isinstance(a, SymFloat):
        return a.env.replace(a.expr).number is not None
    return isinstance(a, float)


def is_concrete_bool(a: bool | SymBool) -> bool:
    """Whether a bool has its answer already: nothing would be guarded by asking.

    >>> from taeda.fx.experimental.symbolic_shapes import ShapeEnv
    >>> env = ShapeEnv()
    >>> n = env.create_symintnode(env.create_symbol(6, "x.size(0)"), hint=6)
    >>> is_concrete_bool(n > 4), is_concrete_bool(n >= 0)
    (False, True)
    """
    return isinstance(a, bool) if not isinstance(a, SymBool) else _answer(a) is not None


def _answer(a: Any) -> bool | None:
    return a.env.known(a.relation) if isinstance(a, SymBool) else bool(a)


def has_free_symbols(val: Any) -> bool:
    """Whether a value, or something in a tuple, list or dict of values, depends on a symbol.

    >>> from taeda.fx.experimental.symbolic_shapes import ShapeEnv
    >>> env = ShapeEnv()
    >>> n = env.create_symintnode(env.create_symbol(6, "x.size(0)"), hint=6)
    >>> has_free_symbols((3, [n])), has_free_symbols((3, [4]))
    (True, False)
    """
    return any(True for _ in _symbols(val))


def has_free_unbacked_symbols(x: Any) -> bool:
    """Whether a value, or something in a tree of values, depends on a symbol that only data decide.

    >>> from taeda.fx.experimental.symbolic_shapes import ShapeEnv
    >>> env = ShapeEnv()
    >>> n = env.create_symintnode(env.create_symbol(6, "x.size(0)"), hint=6)
    >>> u = env.create_unbacked_symint()
    >>> has_free_unbacked_symbols(n), has_free_unbacked_symbols((n, u))
    (False, True)
    """
    return any(env.is_unbacked_symint(name) for env, name in _symbols(x))


def _symbols(val: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(val, SymInt | SymFloat):
        yield from ((val.env, name) for name in val.expr.symbols())
    elif isinstance(val, SymBool):
        yield from ((val.env, name) for name in val.relation.symbols())
    elif isinstance(val, dict | tuple | list):
        for entry in val.values() if isinstance(val, dict) else val:
            yield from _symbols(entry)
    elif isinstance(val, Tensor):
        yield from _symbols(tuple(val.shape))


def hint_int(a: int | SymInt, fallback: int | None = None) -> int:
    """What an integer is in this call, without a guard; `fallback` if only data decide it, and
    GuardOnDataDependentSymNode if there is none.

    >>> from taeda.fx.experimental.symbolic_shapes import ShapeEnv
    >>> env = ShapeEnv()
    >>> n = env.create_symintnode(env.create_symbol(6, "x.size(0)"), hint=6)
    >>> u = env.create_unbacked_symint()
    >>> hint_int(n * 2), hint_int(u, fallback=64)
    (12, 64)
    """
    if fallback is not None and has_free_unbacked_symbols(a):
        return fallback
    number: int = a.hint if isinstance(a, SymInt) else a
    return number


# ---- asking ----


def statically_known_true(x: bool | SymBool) -> bool:
    """Whether something holds for all sizes that the guards allow, as far as ranges, fixed sizes,
    equal polynomials and what follows from one guard tell. Guards nothing, so False says only that
    it is not known.

    >>> from taeda.fx.experimental.symbolic_shapes import ShapeEnv
    >>> env = ShapeEnv()
    >>> n = env.create_symintnode(env.create_symbol(6, "x.size(0)"), hint=6)
    >>> statically_known_true(n >= 1), statically_known_true(n > 4), env.guards
    (True, False, [])
    """
    return _answer(x) is True if isinstance(x, SymBool) else x is True


def guard_or_true(a: bool | SymBool) -> bool:
    """The answer, which is guarded; True where only data decide.

    >>> from taeda.fx.experimental.symbolic_shapes import ShapeEnv
    >>> env = ShapeEnv()
    >>> n = env.create_symintnode(env.create_symbol(6, "x.size(0)"), hint=6)
    >>> u = env.create_unbacked_symint()
    >>> guard_or_true(u == 3), guard_or_true(n > 8)
    (True, False)
    >>> env.format_guards()
    ' - s0 <= 8'
    """
    return _guarded_or(a, True)


def guard_or_false(a: bool | SymBool) -> bool:
    """The answer, which is guarded; False where only data decide.

    >>> from taeda.fx.experimental.symbolic_shapes import ShapeEnv
    >>> env = ShapeEnv()
    >>> n = env.create_symintnode(env.create_symbol(6, "x.size(0)"), hint=6)
    >>> u = env.create_unbacked_symint()
    >>> guard_or_false(u == 3), guard_or_false(n > 4)
    (False, True)
    >>> env.format_guards()
    ' - s0 > 4'
    """
    return _guarded_or(a, False)


def _guarded_or(a: bool | SymBool, default: bool) -> bool:
    known = _answer(a)
    if known is not None:
        return known
    return default if has_free_unbacked_symbols(a) else bool(a)


def definitely_true(a: bool | SymBool) -> bool:
    """Whether something certainly holds: the answer is guarded, and where only data decide it is not
    certain.

    >>> from taeda.fx.experimental.symbolic_shapes import ShapeEnv
    >>> env = ShapeEnv()
    >>> n = env.create_symintnode(env.create_symbol(6, "x.size(0)"), hint=6)
    >>> u = env.create_unbacked_symint()
    >>> definitely_true(n > 4), definitely_true(u > 4)
    (True, False)
    """
    return guard_or_false(a)


def definitely_false(a: bool | SymBool) -> bool:
    """Whether something certainly does not hold: the answer is guarded, and where only data decide
    it is not certain.

    >>> from taeda.fx.experimental.symbolic_shapes import ShapeEnv
    >>> env = ShapeEnv()
    >>> n = env.create_symintnode(env.create_symbol(6, "x.size(0)"), hint=6)
    >>> u = env.create_unbacked_symint()
    >>> definitely_false(n > 8), definitely_false(u > 8)
    (True, False)
    """
    return not guard_or_true(a)


def sym_and(x: bool | SymBool, *others: bool | SymBool) -> Any:
    """Whether all hold; nothing is guarded.

    >>> from taeda.fx.experimental.symbolic_shapes import ShapeEnv
    >>> env = ShapeEnv()
    >>> n = env.create_symintnode(env.create_symbol(6, "x.size(0)"), hint=6)
    >>> bool(sym_and(n > 4, n < 8)), sym_and(True, False)
    (True, False)
    """
    return functools.reduce(lambda a, b: a & b, others, x)


def sym_or(x: bool | SymBool, *others: bool | SymBool) -> Any:
    """Whether one of them holds; nothing is guarded.

    >>> from taeda.fx.experimental.symbolic_shapes import ShapeEnv
    >>> env = ShapeEnv()
    >>> n = env.create_symintnode(env.create_symbol(6, "x.size(0)"), hint=6)
    >>> bool(sym_or(n > 8, n < 8)), sym_or(False, False)
    (True, False)
    """
    return functools.reduce(lambda a, b: a | b, others, x)


def constrain_range(a: int | SymInt, *, min: int | None, max: int | None = None) -> None:
    """Say that an integer is at least `min` and at most `max`, without a guard: for what only data
    decide. None is no limit. ValueError if the integer is another one in this call, and for a
    formula that is no symbol.

    >>> from taeda.fx.experimental.symbolic_shapes import ShapeEnv
    >>> env = ShapeEnv()
    >>> u = env.create_unbacked_symint()
    >>> constrain_range(u, min=2, max=8)
    >>> statically_known_true(u < 9)
    True
    """
    limits = ValueRanges(-math.inf if min is None else min, math.inf if max is None else max)
    if isinstance(a, SymInt):
        expr = a.env.replace(a.expr)
        if expr.number is None:
            _constrain(a, limits)
            return
    number = a if isinstance(a, int) else expr.number
    if number not in limits:
        raise ValueError(f"{number} is not at least {limits.lower} and at most {limits.upper}")


def _constrain(a: SymInt, limits: ValueRanges) -> None:
    name, env = str(a.expr), a.env
    if a.expr.symbols() != {name}:
        raise ValueError(f"{a} is a formula: the range of each symbol in it can be constrained")
    if not has_free_unbacked_symbols(a) and a.hint not in limits:
        raise ValueError(f"{a} is {a.hint} in this call, outside of {limits}")
    env.var_to_range[name] = env.var_to_range.get(name, ValueRanges()) & limits
    if env.var_to_range[name].is_singleton():
        env.replacements[name] = constant(int(env.var_to_range[name].lower))


# ---- memory ----


def lru_cache(maxsize: int | None) -> Callable[[Callable[..., Any]], Any]:
    """`functools.lru_cache`, whose `cumulative_cache_info` counts hits and misses over all its lives:
    those before `cache_clear` as well.

    >>> doubled = lru_cache(4)(lambda n: 2 * n)
    >>> doubled(1), doubled(1), doubled.cache_clear(), doubled(1)
    (2, 2, None, 2)
    >>> doubled.cumulative_cache_info()[:2]
    (1, 2)
    """

    def wrap(function: Callable[..., Any]) -> Any:
        made = functools.lru_cache(maxsize)(function)
        clear, info = made.cache_clear, made.cache_info
        past = [0, 0]

        def cumulative_cache_info() -> Any:
            now = info()
            return type(now)(past[0] + now.hits, past[1] + now.misses, now.maxsize, now.currsize)

        def cache_clear() -> None:
            past[:] = cumulative_cache_info()[:2]
            clear()

        kept: Any = made
        kept.cache_clear, kept.cumulative_cache_info = cache_clear, cumulative_cache_info
        return kept

    return wrap
