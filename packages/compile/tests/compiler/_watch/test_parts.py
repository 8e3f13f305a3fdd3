"""Functions in two parts give what the whole gives, or are not taken apart."""

from __future__ import annotations

import itertools

import pytest

from taeda.compiler._errors import CannotCopy
from taeda.compiler._watch.parts import parted

NOTES: list = []
_count = 0


def plain(a, b=3):
    c = a + b
    d = c * 2
    NOTES.append(d)
    return a, c, d


def rebound(a, b):
    a = a + b
    b += 1
    return a * b


def counted(a, b):
    global _count
    c = a * b
    _count += c
    return _count


def caught(a, b):
    c = a - b
    try:
        d = 1 / c
    except ZeroDivisionError as error:
        return type(error).__name__, c
    return d


def looped(a, b):
    c, (d, *e) = a, (b, a, b)
    for n in range(c):
        d += n
    return c, d, e


def branched(a, b):
    c = b
    if a > 2:
        c = a
    c = c + 1
    return c, b


@pytest.mark.parametrize("function", [plain, rebound, counted, caught, looped, branched])
def test_each_place_gives_what_the_whole_gives(function):
    global _count
    first = function.__code__.co_firstlineno
    found = 0
    for line, (a, b) in itertools.product(range(first, first + 9), [(1, 2), (4, 4)]):
        _count = 0
        NOTES.clear()
        want, left = function(a, b), (_count, list(NOTES))
        try:
            parts = parted(function, line)
        except CannotCopy:
            continue
        _count = 0
        NOTES.clear()
        given = [(a, b)[n] for n in parts.given]
        assert parts.tail(*parts.head(a, b), *given) == want
        assert (_count, NOTES) == left
        found += 1
    assert found >= 2


def returns_early(a):
    if a:
        return 1
    b = a
    return b, a


def may_lack(a):
    b = 0
    for c in a:
        b += c
    return c


def deletes(a):
    b = a
    del b
    return a


def shares(a):
    b = a
    return [lambda: b for _ in (1,)]


def looks(a):
    b = a
    return locals(), b


def yields(a):
    b = a
    yield b


def packs(*a):
    b = a
    return b, a


@pytest.mark.parametrize(
    "function", [returns_early, may_lack, deletes, shares, looks, yields, packs]
)
def test_what_is_not_certain_is_refused(function):
    last = max(line for _, _, line in function.__code__.co_lines() if line)
    with pytest.raises(CannotCopy):
        parted(function, last)


def test_names_of_classes_are_not_guessed():
    class Private:
        def step(self, a):
            b = a + self.__hidden
            return b, a

    with pytest.raises(CannotCopy):
        parted(Private.step, Private.step.__code__.co_firstlineno + 2)


def test_errors_name_the_line_of_the_function():
    def fails(a):
        b = a
        return b // 0

    parts = parted(fails, fails.__code__.co_firstlineno + 2)
    with pytest.raises(ZeroDivisionError) as caught:
        parts.tail(*parts.head(1))
    assert caught.traceback[-1].lineno == fails.__code__.co_firstlineno + 1
    assert caught.traceback[-1].name == "fails"
