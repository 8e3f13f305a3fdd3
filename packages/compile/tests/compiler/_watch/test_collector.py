"""The collector of cycles waits while runs are recorded, and programs cannot tell."""

from __future__ import annotations

import gc

import pytest

import taeda
from taeda.compiler._watch import collector


@pytest.fixture(autouse=True)
def put_back():
    yield
    gc.enable()


def test_it_waits_for_the_last_run_and_says_that_it_collects():
    collector.hold(1)
    collector.hold(2)
    assert not gc.isenabled() and collector.is_enabled()
    collector.release(1)
    collector.release(1)
    assert not gc.isenabled()
    collector.release(2)
    assert gc.isenabled() and collector.is_enabled()


@pytest.mark.parametrize("on", [True, False])
def test_what_is_set_meanwhile_holds_afterwards(on):
    (gc.disable if on else gc.enable)()
    collector.hold(1)
    collector.set_enabled(on)
    assert collector.is_enabled() is on and not gc.isenabled()
    collector.release(1)
    assert gc.isenabled() is on


def test_a_recording_that_ended_holds_nothing():
    seen = []

    def stops(x):
        float(x.sum())  # no graph
        seen.append(gc.isenabled())
        return x * 2

    taeda.compile(stops)(taeda.ones(3))
    assert seen == [True]
