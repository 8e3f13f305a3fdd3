"""What kernels in Python call is told to whoever records it."""

from __future__ import annotations

from taeda._core_api.programs import TRACE, get_excluded
from taeda._core_api.runtime import set_excluded_flag
from taeda.compiler._graph.shown import shown


def test_tracers_hear_of_operations_and_it_is_as_it_was():
    for hidden in (True, False):
        set_excluded_flag(TRACE, hidden)
        try:
            with shown():
                assert not get_excluded() & TRACE
            assert bool(get_excluded() & TRACE) is hidden
        finally:
            set_excluded_flag(TRACE, False)
