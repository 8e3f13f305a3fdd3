"""The older interface of the profiler: the names of `taeda.profiler`, and a sentence for those that
are gone.
"""

from __future__ import annotations

import pytest

import taeda

profiler = pytest.importorskip(
    "taeda.autograd.profiler", reason="taeda-profiler brings the profiler"
)


def test_it_records_calls():
    with profiler.profile() as records, profiler.record_function("a step"):
        taeda.ones(3) + 1
    names = {event.key for event in records.key_averages()}
    assert "a step" in names


@pytest.mark.parametrize("name", profiler.__all__)
def test_names_are_those_of_the_profiler(name):
    from taeda.profiler import _legacy  # after the package that brings it was looked for

    assert getattr(profiler, name) is getattr(_legacy, name)
