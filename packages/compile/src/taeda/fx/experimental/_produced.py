"""Guards as Python text in the places where a program's arguments are read, and broken demands."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from taeda._core_api import warn

from ._contexts import EqualityConstraint, StatelessSymbolicContext, StrictMinMaxConstraint
from ._expressions import Expression, constant, symbol
from ._logic import Question
from .sym_node import SymInt

if TYPE_CHECKING:
    from .symbolic_shapes import ShapeEnv

__all__ = ["ConstraintViolationError", "ShapeGuards", "guards_in_sources"]


class ConstraintViolationError(RuntimeError):
    """What is demanded of a size and what the program needs of it exclude each other."""


@dataclass
class ShapeGuards:
    """Guards as texts of one language."""

    lang: str
    exprs: list[str] = field(default_factory=list)


_LANGS = ("python", "verbose_python")


def guards_in_sources(
    env: ShapeEnv,
    placeholders: Any,
    sources: Sequence[Any],
    source_ref: Callable[[Any], str] = str,
    *,
    guards: Sequence[Question] | None = None,
    input_contexts: Sequence[Any] | None = None,
    equalities_inputs: EqualityConstraint | None = None,
    ignore_static: bool = True,
    langs: Sequence[str] = ("python",),
) -> list[ShapeGuards]:
    """The guards of an environment for each language; `guards` in place of its own."""
    if len(placeholders) != len(sources):
        raise ValueError(f"{len(placeholders)} arguments, and {len(sources)} sources of them")
    unknown = [lang for lang in langs if lang not in _LANGS]
    if unknown:
        raise ValueError(f"guards are written in {', '.join(_LANGS)}, got {unknown[0]!r}")
    places = list(_places(placeholders, sources, source_ref))
    _demand(env, places, list(input_contexts or ()), placeholders, equalities_inputs)
    names: dict[str, str] = {}
    texts = list(_written(env, places, names, ignore_static, guards))
    return [ShapeGuards(lang, [_in(lang, *text) for text in texts]) for lang in langs]


def _in(lang: str, text: str, values: str) -> str:
    return f"{text}  # {values}" if lang == "verbose_python" and values else text


def _places(
    placeholders: Any, sources: Sequence[Any], source_ref: Callable[[Any], str]
) -> Iterator[tuple[str, Expression]]:
    """Where each size of the arguments is read, and what stands for it."""
    for wanted, source in zip(placeholders, sources, strict=True):
        name = source_ref(source)
        if isinstance(wanted, tuple):
            for d, size in enumerate(wanted):
                yield f"{name}.size({d})", _plain(size)
        else:
            yield name, _plain(wanted)


def _plain(size: Any) -> Expression:
    if isinstance(size, SymInt):
        return size.expr
    return size if isinstance(size, Expression) else constant(size)


def _written(
    env: ShapeEnv,
    places: list[tuple[str, Expression]],
    names: dict[str, str],
    ignore_static: bool,
    guards: Sequence[Question] | None,
) -> Iterator[tuple[str, str]]:
    """Each text, and what the sizes in it were; `names` gets the place of each symbol."""
    later = []
    for place, expr in places:
        if expr.number is not None:
            if not ignore_static:
                yield f"{place} == {expr.number}", ""
        elif expr == symbol(str(expr)) and str(expr) not in names:
            names[str(expr)] = place
        else:
            later.append((place, expr))
    for place, expr in later:
        yield f"{place} == {_text(expr, names)}", _values(env, expr)
    for guard in env.guards if guards is None else guards:
        yield _text(guard, names), _values(env, guard)
    yield from _ends(env, names)


def _ends(env: ShapeEnv, names: dict[str, str]) -> Iterator[tuple[str, str]]:
    for name, place in names.items():
        limits = env.bound_sympy(symbol(name))
        low = f"{limits.lower} <= " if limits.lower != -math.inf and limits.lower else ""
        high = f" <= {limits.upper}" if limits.upper != math.inf else ""
        if limits.is_singleton():
            yield f"{place} == {limits.lower}", ""
        elif low or high:
            yield f"{low}{place}{high}", ""


def _text(what: Any, names: dict[str, str]) -> str:
    missing = sorted(what.symbols() - names.keys())
    if missing:
        raise ValueError(f"{what} depends on {', '.join(missing)}, which no argument tells")
    return str(what.replaced({name: symbol(place) for name, place in names.items()}))


def _values(env: ShapeEnv, what: Any) -> str:
    return ", ".join(f"{n} was {env.var_to_val[n]}" for n in sorted(what.symbols()))


# ---- demands ----


def _demand(
    env: ShapeEnv,
    places: list[tuple[str, Expression]],
    contexts: list[Any],
    placeholders: Any,
    equalities: EqualityConstraint | None,
) -> None:
    """ConstraintViolationError, or a warning, for demands that the guards break."""
    demanded = [
        (place, expr, env.var_to_constraint.get(str(expr))) for place, expr in places
    ] + list(_of_contexts(places, contexts, placeholders))
    broken: list[tuple[str, bool]] = []
    for place, expr, constraint in demanded:
        if constraint is not None:
            broken.append((_broken(env, place, expr, constraint), constraint.warn_only))
    broken.extend(_unequal(env, places, equalities))
    for said in dict.fromkeys(said for said, warn_only in broken if said and warn_only):
        warn(said)
    errors = dict.fromkeys(said for said, warn_only in broken if said and not warn_only)
    if errors:
        raise ConstraintViolationError("\n".join(f" - {said}" for said in errors))


def _of_contexts(
    places: list[tuple[str, Expression]], contexts: list[Any], placeholders: Any
) -> Iterator[tuple[str, Expression, Any]]:
    if contexts and len(contexts) != len(placeholders):
        raise ValueError(f"{len(placeholders)} arguments, and {len(contexts)} contexts of them")
    rest = iter(places)
    for context, wanted in zip(contexts, placeholders, strict=False):
        count = len(wanted) if isinstance(wanted, tuple) else 1
        own = [next(rest) for _ in range(count)]
        if isinstance(context, StatelessSymbolicContext):
            for (place, expr), demanded in zip(own, context.constraint_sizes or (), strict=True):
                yield place, expr, demanded


def _broken(env: ShapeEnv, place: str, expr: Expression, constraint: Any) -> str:
    """Why a demand does not hold; "" if it does."""
    limits = env.bound_sympy(expr)
    if limits.is_singleton():
        return f"{constraint.render(place)}, but the program fixes it to {limits.lower}"
    if not isinstance(constraint, StrictMinMaxConstraint):
        return ""
    low, high = max(constraint.vr.lower, 2), constraint.vr.upper
    if low < limits.lower or high > limits.upper:
        return (
            f"{constraint.render(place)}, but the program holds only for "
            f"{limits.lower} <= {place} <= {limits.upper}"
        )
    return ""


def _unequal(
    env: ShapeEnv, places: list[tuple[str, Expression]], equalities: EqualityConstraint | None
) -> Iterator[tuple[str, bool]]:
    """Places that are one symbol without a demand for it, and demands that the trace does not hold."""
    if equalities is None:
        return
    known = {place: env.replace(expr) for place, expr in places}
    for a, b in equalities.source_pairs:
        one, other = known.get(str(a)), known.get(str(b))
        if one is not None and other is not None and one != other:
            yield f"{a} == {b} is demanded, but they are {one} and {other}", equalities.warn_only
    for place, root, rule in equalities.derived_equalities:
        one, other = known.get(str(place)), known.get(str(root))
        if one is not None and other is not None and one != rule(other):
            said = f"{place} is to be {rule(other)}, where {root} is {other}; it is {one}"
            yield said, equalities.warn_only
    relaxed = {str(source) for source in equalities.relaxed_sources}
    first: dict[Expression, str] = {}
    for place, expr in known.items():
        root = first.setdefault(expr, place)
        told = expr.number is not None or root == place or {root, place} & relaxed
        if not told and not equalities.is_equal(root, place):
            yield (
                f"the program needs {root} == {place}, which is not demanded",
                equalities.warn_only,
            )
