"""Where `trace` is at work, and what it tells of constants."""

from __future__ import annotations

import threading

import pytest

import taeda
from taeda import jit
from taeda.jit._watching import is_tracing, tracing


def test_it_is_at_work_in_its_thread_alone():
    seen = []
    with tracing():
        with tracing():
            assert is_tracing()
        assert is_tracing()
        thread = threading.Thread(target=lambda: seen.append(is_tracing()))
        thread.start()
        thread.join()
    assert not is_tracing()
    assert seen == [False]


def test_an_error_ends_it():
    with pytest.raises(ValueError, match="no"), tracing():
        raise ValueError("no")
    assert not is_tracing()


def test_a_value_that_is_read_is_told_at_its_line():
    def program(x):
        return x * float(x.sum())

    with pytest.warns(jit.TracerWarning, match="becomes a number of Python") as told:
        jit.trace(program, (taeda.ones(2),), check_trace=False)
    assert [(w.filename, w.lineno) for w in told] == [
        (__file__, program.__code__.co_firstlineno + 1)
    ]
