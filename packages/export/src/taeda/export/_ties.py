"""Which sizes a program ties to each other, or to a number, where it does not run at all at others.

The sizes of a trace are all different. A program that adds two tensors, or multiplies by a weight,
raises there. So its sizes are those of the example, where it must run, and one after the other is
moved: what cannot be moved alone is a number, or a formula of another one that moves with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from taeda.fx.experimental._expressions import Expression, constant, symbol
from taeda.fx.experimental._ranges import ValueRanges

from ._dims import Symbols

__all__ = ["Ties", "most_of", "ties_of"]

Sizes = dict[str, int]
Runs = Callable[[Sizes], Exception | None]


class Ties:
    """Symbols that are numbers, and those that are formulas of others."""

    def __init__(self) -> None:
        self.numbers: set[str] = set()
        self.formulas: dict[str, Expression] = {}


def ties_of(runs: Runs, symbols: Symbols, hints: Sizes, raised: Exception) -> Ties:
    """The ties of a program that raised at `hints`; it raises that again if it runs nowhere."""
    base = _base(runs, symbols)
    if base is None or not hints:
        raise raised
    now, stuck = dict(base), []
    hints = {n: s if s != base[n] else _another(s, symbols.ranges[n]) for n, s in hints.items()}
    for name in sorted(hints, key=lambda n: not symbols.is_named(n)):
        moved = {**now, name: hints[name]}
        if runs(moved) is None:
            now = moved
        else:
            stuck.append(name)
    if not stuck:
        raise raised
    made = Ties()
    while stuck:
        first = stuck.pop(0)
        formulas = _partners(runs, now, first, stuck, hints[first])
        if not formulas:
            made.numbers.add(first)
        made.formulas.update(formulas)
        stuck = [name for name in stuck if name not in formulas]
    return made


def _base(runs: Runs, symbols: Symbols) -> Sizes | None:
    """Sizes at which the program runs: those of the example, without 0 and 1 if that is possible."""
    example = {name: symbols.sizes[name] for name in symbols.ranges}
    larger = {0: 23, 1: 29}  # equal ones stay equal
    for sizes in ({n: larger.get(s, s) for n, s in example.items()}, example):
        allowed = all(s in symbols.ranges[n] for n, s in sizes.items())
        if allowed and runs(sizes) is None:
            return sizes
    return None


def _another(size: int, limits: ValueRanges) -> int:
    """Another size in the range."""
    others = (2 * size, 3 * size, size + 1, size - 1)
    return next((n for n in others if n > 1 and n in limits), size)


def most_of(runs: Runs, symbols: Symbols, name: str) -> int | None:
    """The largest size at which the program runs, if there is one above the example's, and not far
    from it: a symbol falls because of sizes up to seven times its own. Found by halving.
    """
    base = _base(runs, symbols)
    if base is None:
        return None

    def holds(size: int) -> bool:
        return size in symbols.ranges[name] and runs({**base, name: size}) is None

    good, bad = base[name], 2 * base[name]
    while holds(bad):
        good, bad = bad, 2 * bad
        if bad > max(8 * base[name], base[name] + 16):
            return None
    while bad - good > 1:
        middle = (good + bad) // 2
        good, bad = (middle, bad) if holds(middle) else (good, middle)
    return good if good > base[name] else None


def _partners(
    runs: Runs, base: Sizes, first: str, others: list[str], size: int
) -> dict[str, Expression]:
    """Formulas of `first` for those that move with it."""
    for names, expr in _guesses(base, first, others):
        moved = {**base, first: size, **{n: expr(n).value({first: size}) for n in names}}
        if runs(moved) is None:
            return {n: expr(n) for n in names}
    return {}


def _guesses(
    base: Sizes, first: str, others: list[str]
) -> Iterator[tuple[list[str], Callable[[str], Expression]]]:
    """Who may move with `first`, and how: each alone, those of its size, all of them."""

    def shifted(name: str) -> Expression:
        return symbol(first) + constant(base[name] - base[first])

    def scaled(name: str) -> Expression:
        return constant(base[name] // base[first]) * symbol(first)

    equal = [name for name in others if base[name] == base[first]]
    groups = [*([name] for name in others), equal, others]
    for names in groups:
        if names:
            yield names, shifted
    for names in groups:
        if names and all(base[n] > base[first] and base[n] % base[first] == 0 for n in names):
            yield names, scaled
