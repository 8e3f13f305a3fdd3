"""Numbers that moved with sizes, explained: which expression gives them at every point."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction

from ._expressions import Expression, constant, floor_div, symbol

__all__ = ["explained"]

Points = Sequence[dict[str, int]]


def explained(
    numbers: Sequence[int], points: Points, names: Sequence[str], known: Sequence[Expression]
) -> Expression | None:
    """The simplest expression in the symbols `names` that is `numbers[k]` at `points[k]`; None if
    none is found. `known` are tried first: what the program itself computed.

    >>> points = [{"a": 4, "b": 3}, {"a": 7, "b": 3}, {"a": 4, "b": 8}, {"a": 9, "b": 5}]
    >>> explained([12, 21, 32, 45], points, ["a", "b"], [])
    a*b
    >>> explained([5, 8, 5, 10], points, ["a", "b"], [])
    a + 1
    """
    moving = [name for name in names if len({p[name] for p in points}) > 1]
    plain = [symbol(name) for name in moving]
    for made in itertools.chain(plain, known, _affine(numbers, points, moving)):
        if _fits(made, numbers, points):
            return made
    return next(_quotients(numbers, points, moving), None)


def _fits(made: Expression, numbers: Sequence[int], points: Points) -> bool:
    try:
        return all(made.value(p) == n for p, n in zip(points, numbers, strict=True))
    except (KeyError, ZeroDivisionError):
        return False


def _products(names: Sequence[str]) -> list[Expression]:
    found = []
    for degree in (1, 2, 3):
        for chosen in itertools.combinations_with_replacement(names, degree):
            made = constant(1)
            for name in chosen:
                made = made * symbol(name)
            found.append(made)
    return found


def _affine(numbers: Sequence[int], points: Points, names: Sequence[str]) -> Iterator[Expression]:
    """`a*m + c`, then `a*m + b*n + c`, for products m and n, then a sum of all sizes, as of what is put
    one behind the other: each the one that the first points give.
    """
    products = _products(names)
    every = [tuple(map(symbol, names))] if len(names) > 2 else []
    for count in (1, 2, 0):
        for chosen in itertools.combinations(products, count) if count else every:
            factors = _solved(numbers, points, chosen)
            if factors is not None:
                made = constant(factors[-1])
                for factor, product in zip(factors, chosen, strict=False):
                    made = made + constant(factor) * product
                yield made


def _solved(
    numbers: Sequence[int], points: Points, products: Sequence[Expression]
) -> list[int] | None:
    """Integers that make a sum of these products and 1 the numbers; None if no such ones do."""
    rows = [
        [Fraction(m.value(p)) for m in products] + [Fraction(1), Fraction(n)]
        for p, n in zip(points, numbers, strict=True)
    ]
    width = len(products) + 1
    for column in range(width):
        pivot = next((r for r in range(column, len(rows)) if rows[r][column]), None)
        if pivot is None:
            return None
        rows[column], rows[pivot] = rows[pivot], rows[column]
        head = [v / rows[column][column] for v in rows[column]]
        rows[column] = head
        for r, row in enumerate(rows):
            if r != column and row[column]:
                rows[r] = [v - row[column] * h for v, h in zip(row, head, strict=True)]
    solved = [rows[k][-1] for k in range(width)]
    exact = all(not row[-1] for row in rows[width:])
    whole = all(v.denominator == 1 for v in solved)
    return [int(v) for v in solved] if exact and whole else None


def _quotients(
    numbers: Sequence[int], points: Points, names: Sequence[str]
) -> Iterator[Expression]:
    """`(s + c) // d`: what strides, dilations and pooling make of a size."""
    for name in names:
        for divisor in (2, 3, 4, 5, 6, 7, 8, 16, 32):
            for shift in sorted(range(-64, 65), key=abs):
                if all(
                    (p[name] + shift) // divisor == n for p, n in zip(points, numbers, strict=True)
                ):
                    yield floor_div(symbol(name) + constant(shift), constant(divisor))
