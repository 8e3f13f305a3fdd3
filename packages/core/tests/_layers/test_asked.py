"""Conditions on values: asked here, or by whoever traces without values."""

from __future__ import annotations

import threading

import taeda
from taeda._layers.asked import all_hold, are_known, left_to


def test_a_condition_is_asked_of_values():
    assert all_hold(taeda.tensor([True, True]), "")
    assert not all_hold(taeda.tensor([True, False]), "")
    assert all_hold(taeda.ones(0, dtype=taeda.bool), "")
    assert all_hold(taeda.zeros(3, dtype=taeda.bool, device="meta"), "")


def test_whoever_traces_takes_it_or_not():
    told = []

    def taker(condition, message):
        told.append((condition.shape, message))
        return message == "later"

    with left_to(taker):
        assert all_hold(taeda.tensor([True, False]), "later")
        assert not all_hold(taeda.tensor([True, False]), "now")
        assert not are_known()
    assert told == [((), "later"), ((), "now")]
    assert are_known()


def test_it_is_of_one_thread():
    known = []
    with left_to(lambda condition, message: True):
        thread = threading.Thread(target=lambda: known.append(are_known()))
        thread.start()
        thread.join()
    assert known == [True]
