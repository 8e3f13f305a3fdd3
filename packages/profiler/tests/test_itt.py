"""Marks for VTune: there are none, and that is said."""

import pytest


def test_itt_says_that_there_is_none():
    from taeda.profiler import itt

    assert not itt.is_available()
    for call in (lambda: itt.mark("a"), lambda: itt.range_push("a"), itt.range_pop):
        with pytest.raises(RuntimeError, match="ITT functions not installed"):
            call()
