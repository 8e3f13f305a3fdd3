"""Walks without recursion."""

from __future__ import annotations

import sys

import pytest

from taeda._io.steps import DEEPEST, drive


def nested(levels):
    inner = (yield nested(levels - 1)) if levels > 1 else 0
    return inner + 1


def test_parts_are_driven_before_what_holds_them():
    assert drive(nested(5), ValueError()) == 5


def test_it_goes_as_deep_as_it_says():
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(200)
    try:
        assert drive(nested(DEEPEST), ValueError()) == DEEPEST
    finally:
        sys.setrecursionlimit(limit)
    with pytest.raises(ValueError, match="mine"):
        drive(nested(DEEPEST + 1), ValueError("mine"))


def test_an_error_of_a_part_is_raised():
    def failing():
        yield (_ for _ in [].pop())

    with pytest.raises(IndexError):
        drive(failing(), ValueError())
