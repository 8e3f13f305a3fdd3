"""What a program asks of sizes beyond what `dynamic_shapes` promises: ranges, or errors with fixes.

Fixes are lines that `refine_dynamic_shapes_from_suggested_fixes` reads: `t = Dim('t', max=64)`,
`h = 2*_h`, `b = a + 1`, `c = None  # 3`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from taeda.compiler._errors import UserError
from taeda.fx.experimental._expressions import Call, Expression, Relation
from taeda.fx.experimental._logic import Joined, Question
from taeda.fx.experimental._ranges import ValueRanges, narrowed, settled

from ._dims import Symbols
from ._ties import Ties
from ._tracing import Captured

__all__ = ["check_guards", "check_ties", "elsewhere", "fixes", "settle_ranges"]


def elsewhere(guards: Iterable[Question], symbols: Symbols) -> frozenset[str]:
    """The symbols of what does not hold for the example, whose sizes are not 0 or 1."""
    found: set[str] = set()
    for guard in guards:
        names = guard.symbols()
        sizes = {n: symbols.sizes[n] for n in names if n in symbols.sizes}
        known = len(sizes) == len(names) and all(n > 1 for n in sizes.values())
        if known and not guard.value(sizes):
            found |= names
    return frozenset(found)


def settle_ranges(made: Captured, symbols: Symbols) -> None:
    """Sizes without a name get the range in which the program holds."""
    for guard in list(made.guards):
        names = guard.symbols()
        if len(names) == 1 and not any(symbols.is_named(n) for n in names):
            ranges = _narrowed(guard, made.ranges)
            if settled(guard, ranges) is True:
                made.ranges.update(ranges)
                made.guards.remove(guard)


def check_ties(ties: Ties, symbols: Symbols) -> None:
    """UserError for Dims that the program ties, and sizes that must vary and are numbers."""
    numbers = sorted(ties.numbers & symbols.strict)
    related = sorted(n for n in ties.formulas if symbols.is_named(n))
    if not numbers and not related:
        return
    lines = [_as_number(symbols, n) for n in numbers]
    for name in related:
        (root,) = ties.formulas[name].symbols()
        same = symbols.is_named(root)
        said = symbols.text(ties.formulas[name])
        lines.append(f"{symbols.shown[name]} = {said}" if same else _as_number(symbols, name))
    shown = ", ".join(symbols.shown[n] for n in (*numbers, *related))
    raise UserError(
        f"Constraints violated ({shown})! The program does not run where these sizes differ from what "
        "it needs. " + _suggested(lines)
    )


def check_guards(guards: Iterable[Question], symbols: Symbols) -> None:
    """UserError for relations that the program needs and a Dim does not promise."""
    broken = [g for g in guards if g.symbols() & symbols.strict]
    if not broken:
        return
    said = [symbols.text(guard) for guard in broken]
    names = sorted(set().union(*(g.symbols() for g in broken)) & symbols.strict)
    lines = [line for name in names if (line := _fix(name, broken, symbols)) is not None]
    raise UserError(
        f"the program is this one only where {' and '.join(said)}, which dynamic_shapes does not "
        "promise. Limit the Dim by min= or max=, write the size as a formula of another Dim, leave it "
        "to Dim.AUTO, or make it a number. " + _suggested(lines)
    )


def fixes(symbols: Symbols, names: list[str], largest: Mapping[str, int]) -> str:
    """The text for sizes that are numbers after all, or have a largest size."""
    shown = ", ".join(symbols.shown[n] for n in names)
    return (
        f"Constraints violated ({shown})! At other sizes the program runs other operators, or has "
        "numbers that no formula explains, so the graph would hold for one size only. "
        + _suggested(
            f"{symbols.shown[n]} = {_dim(symbols.shown[n], _to(symbols, n, largest[n]))}"
            if n in largest and symbols.is_named(n)
            else _as_number(symbols, n)
            for n in names
        )
    )


def _to(symbols: Symbols, name: str, most: int) -> ValueRanges:
    return symbols.ranges[name] & ValueRanges(0, most)


def _suggested(lines: Iterable[str]) -> str:
    return "Suggested fixes:\n" + "\n".join(f"  {line}" for line in lines)


def _as_number(symbols: Symbols, name: str) -> str:
    return f"{symbols.shown[name]} = None  # {symbols.sizes[name]}"


def _fix(name: str, guards: list[Question], symbols: Symbols) -> str | None:
    """The demand that keeps most of a Dim; None where the fix of another one is enough."""
    mine = [g for g in guards if name in g.symbols()]
    shown = symbols.shown[name]
    if not symbols.is_named(name):
        return _as_number(symbols, name)
    if all(len(g.symbols()) == 1 for g in mine):
        limits = _limits(name, mine, symbols)
        if limits is not None:
            return f"{shown} = {_dim(shown, limits)}"
        divisor = _divisor(name, mine)
        if divisor is not None:
            return f"{shown} = {divisor}*_{shown}"
    if len(mine) == 1 and isinstance(mine[0], Relation) and mine[0].sign == "==":
        return _equal(name, mine[0], symbols)
    return _as_number(symbols, name)


def _narrowed(guard: Question, ranges: dict[str, ValueRanges]) -> dict[str, ValueRanges]:
    """The ranges, with what a guard says of one."""
    parts = guard.parts if isinstance(guard, Joined) and guard.sign == "and" else (guard,)
    made = dict(ranges)
    for part in parts:
        found = narrowed(part, made) if isinstance(part, Relation) else None
        if found is not None:
            made[found[0]] = found[1]
    return made


def _limits(name: str, guards: list[Question], symbols: Symbols) -> ValueRanges | None:
    """The range in which all of them hold, if it is one."""
    ranges = {name: symbols.ranges[name]}
    for guard in guards:
        ranges = _narrowed(guard, ranges)
    whole = all(settled(guard, ranges) is True for guard in guards)
    return ranges[name] if whole and symbols.sizes[name] in ranges[name] else None


def _dim(name: str, limits: ValueRanges) -> str:
    least = f", min={int(limits.lower)}" if limits.lower > 0 else ""
    most = "" if limits.upper == math.inf else f", max={int(limits.upper)}"
    return f"Dim('{name}'{least}{most})"


def _divisor(name: str, guards: list[Question]) -> int | None:
    """The number that divides the size, if that is all that is asked."""
    made = 1
    for guard in guards:
        if not isinstance(guard, Relation) or guard.sign != "==" or guard.right.number != 0:
            return None
        terms = list(getattr(guard.left, "terms", {}))
        atom = terms[0][0][0] if len(terms) == 1 and len(terms[0]) == 1 else None
        if not isinstance(atom, Call) or atom.name != "mod" or str(atom.left) != name:
            return None
        made = math.lcm(made, atom.right.number or 1)
    return made if made > 1 else None


def _equal(name: str, relation: Relation, symbols: Symbols) -> str | None:
    """The formula of another Dim; only the later of two gets one."""
    sides = [s for s in (relation.left, relation.right) if isinstance(s, Expression)]
    for one, other in (sides, sides[::-1]) if len(sides) == 2 else ():
        names = other.symbols()
        if str(one) == name and len(names) == 1 and name not in names:
            (root,) = names
            if symbols.is_named(root):
                return f"{symbols.shown[name]} = {symbols.text(other)}"
    return _as_number(symbols, name)
