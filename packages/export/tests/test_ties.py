"""Which sizes move together, of a program that is a condition on its sizes."""

from __future__ import annotations

import pytest

from taeda.export._dims import Symbols
from taeda.export._ties import most_of, ties_of
from taeda.fx.experimental._ranges import ValueRanges


def symbols(**sizes):
    ranges = {name: ValueRanges(0) for name in sizes}
    return Symbols(ranges, set(), {name: name for name in sizes}, sizes)


def program(holds):
    return lambda sizes: None if holds(**sizes) else RuntimeError(str(sizes))


@pytest.mark.parametrize(
    ("holds", "sizes", "numbers", "formulas"),
    [
        (lambda a, b: b == 3, {"a": 4, "b": 3}, {"b"}, {}),
        (lambda a, b, c: a == b == c, {"a": 4, "b": 4, "c": 4}, set(), {"b": "a", "c": "a"}),
        (lambda a, b: b == a + 2, {"a": 4, "b": 6}, set(), {"b": "a + 2"}),
        (lambda a, b: b == 3 * a, {"a": 4, "b": 12}, set(), {"b": "3*a"}),
        (
            lambda a, b, c, d: a == b and c == d, {"a": 4, "b": 4, "c": 4, "d": 4}, set(),
            {"b": "a", "d": "c"},
        ),
        (lambda a, b: a == b or a == 1 or b == 1, {"a": 1, "b": 1}, set(), {"b": "a"}),
    ],
)  # fmt: skip
def test_ties(holds, sizes, numbers, formulas):
    hints = {name: 8 + 3 * k for k, name in enumerate(sizes)}
    made = ties_of(program(holds), symbols(**sizes), hints, ValueError("at the hints"))
    assert made.numbers == numbers
    assert {name: str(expr) for name, expr in made.formulas.items()} == formulas


def test_a_program_that_runs_nowhere_raises_what_it_raised():
    for holds in (lambda a: False, lambda a: True):
        with pytest.raises(ValueError, match="at the hints"):
            ties_of(program(holds), symbols(a=4), {"a": 8}, ValueError("at the hints"))


@pytest.mark.parametrize("most", [5, 7, 8, 20])
def test_the_largest_size_is_found(most):
    assert most_of(program(lambda a, b: a <= most), symbols(a=4, b=2), "a") == most


def test_there_is_no_largest_size():
    assert most_of(program(lambda a: True), symbols(a=4), "a") is None
    assert most_of(program(lambda a: a < 1000), symbols(a=4), "a") is None, "too far to matter"
    assert most_of(program(lambda a: a == 4), symbols(a=4), "a") is None
