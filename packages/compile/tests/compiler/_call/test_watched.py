"""A call while it is recorded: whose code runs, what waits, what is put back."""

from __future__ import annotations

import gc
import sys

import pytest

import taeda
from taeda import nn
from taeda.compiler._call.watched import observed
from taeda.compiler._watch.observer import Observer, here


@pytest.mark.parametrize("collects", [True, False])
def test_code_that_a_collection_of_cycles_runs_is_not_of_the_program(collects):
    def callback(phase, info):
        seen.append(sum(len(name) for name in sorted(info)))

    class Leaves:
        def __init__(self):
            self.itself = self

        def __del__(self):
            seen.append("".join(["left", "behind"]))

    seen, before, was_enabled = [], gc.get_threshold(), gc.isenabled()
    weight = taeda.ones(3)
    gc.callbacks.append(callback)
    try:
        (gc.enable if collects else gc.disable)()
        gc.set_threshold(1, 1, 1)
        f = taeda.compile(lambda x: (x * weight).relu().sum())
        for n in range(4):
            Leaves()
            assert f(taeda.full((3,), float(n))) == 3 * n
        assert gc.isenabled() is collects
        gc.collect()
    finally:
        gc.set_threshold(*before)
        gc.callbacks.remove(callback)
        (gc.enable if was_enabled else gc.disable)()
    assert seen
    found = f.__taeda_compiled__
    assert [t.trusted for ts in found.traces.values() for t in ts] == [True], found.reasons


def test_a_program_that_raises_leaves_nothing_behind():
    plain, before = nn.Module.__call__, here.get()

    def program():
        assert nn.Module.__call__ is not plain
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        observed(Observer(strict=False), program, (), {})
    assert nn.Module.__call__ is plain
    assert sys.getprofile() is None
    assert here.get() is before
