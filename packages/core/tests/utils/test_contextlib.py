"""Contexts that decorate functions and generators."""

from __future__ import annotations

import pytest

from taeda.utils._contextlib import (
    _DecoratorContextManager,
    _NoParamDecoratorContextManager,
    context_decorator,
)

depth = 0


class Deeper(_DecoratorContextManager):
    def __init__(self, by=1):
        self.by = by

    def __enter__(self):
        global depth
        depth += self.by

    def __exit__(self, *exception):
        global depth
        depth -= self.by

    def clone(self):
        return type(self)(self.by)


class Once(_NoParamDecoratorContextManager):
    __enter__ = Deeper.__enter__
    __exit__ = Deeper.__exit__
    by = 1


def test_a_function():
    @Deeper(2)
    def seen(x, *, y=1):
        """Its text."""
        return depth, x, y

    assert seen(3, y=4) == (2, 3, 4) and depth == 0
    assert seen.__doc__ == "Its text."
    with Deeper(5):
        assert seen(1) == (7, 1, 1)


def test_without_brackets():
    @Once
    def seen():
        return depth

    assert seen() == 1
    with Once():
        assert depth == 1


def test_a_generator_holds_it_while_it_runs():
    @Deeper()
    def count():
        try:
            got = yield depth
            try:
                yield got, depth
            except ValueError:
                yield "caught", depth
            return "end", depth
        finally:
            closed.append(depth)

    closed = []
    steps = count()
    assert next(steps) == 1 and depth == 0
    assert steps.send("sent") == ("sent", 1) and depth == 0
    assert steps.throw(ValueError()) == ("caught", 1) and depth == 0
    with pytest.raises(StopIteration) as end:
        next(steps)
    assert end.value.value == ("end", 1) and closed == [1] and depth == 0
    begun = count()
    next(begun)
    begun.close()
    assert closed == [1, 1] and depth == 0
    begun = count()
    next(begun)
    with pytest.raises(KeyError):
        begun.throw(KeyError())
    assert depth == 0


def test_what_is_refused():
    with pytest.raises(ValueError, match="decorate the methods of Thing"):

        @Deeper()
        class Thing:
            pass

    with pytest.raises(AssertionError, match="not clear which"):
        context_decorator(Deeper(), len)
    with pytest.raises(NotImplementedError, match="lacks __enter__"):
        _DecoratorContextManager().__enter__()
    with pytest.raises(NotImplementedError, match="lacks __exit__"):
        _DecoratorContextManager().__exit__(None, None, None)


def test_one_context_for_all_calls():
    import contextlib

    told = []
    once = contextlib.suppress(KeyError)
    quiet = context_decorator(once, lambda: {}[told.append(1)])
    assert quiet() is None and quiet() is None and told == [1, 1]
