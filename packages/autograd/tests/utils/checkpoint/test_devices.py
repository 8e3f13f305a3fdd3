"""States of the generators of devices: which devices, and what is refused; the states are cuda's."""

from __future__ import annotations

import pytest

import taeda
from taeda.utils import checkpoint


def test_the_cpus_is_not_among_them():
    assert checkpoint.get_device_states(taeda.ones(2), {"a": [taeda.ones(1)]}, 3) == ([], [])
    before = taeda.get_rng_state()
    checkpoint.set_device_states([], [])
    assert taeda.equal(taeda.get_rng_state(), before)


def test_each_device_once_in_the_order_of_the_arguments(monkeypatch):
    class Elsewhere(taeda.Tensor):
        device = property(lambda self: taeda.device("cuda", self.place))

        def get_device(self):
            return self.place

    def at(place):
        made = taeda.ones(1).as_subclass(Elsewhere)
        made.place = place
        return made

    monkeypatch.setattr(taeda.cuda, "get_rng_state", lambda device: f"state {device}")
    given = {}
    monkeypatch.setattr(
        taeda.cuda, "set_rng_state", lambda state, device: given.update({device: state})
    )
    devices, states = checkpoint.get_device_states(at(1), [taeda.ones(1), {"k": (at(0), at(1))}])
    assert (devices, states) == ([1, 0], ["state 1", "state 0"])
    checkpoint.set_device_states(devices, states)
    assert given == {1: "state 1", 0: "state 0"}


def test_a_state_for_each():
    with pytest.raises(ValueError, match="2 devices and 0 states"):
        checkpoint.set_device_states([0, 1], [])
