"""Settings of the process: when the second run stops, and what it tells."""

from __future__ import annotations

import pytest
from checkpoint_programs import again, backward_of

import taeda
from taeda.utils.checkpoint import (
    CheckpointError,
    set_checkpoint_debug_enabled,
    set_checkpoint_early_stop,
)


class Counts:
    def __init__(self):
        self.steps = 0

    def __call__(self, x):
        for _ in range(4):
            self.steps += 1
            x = x.exp()
        return x


def test_the_second_run_stops_when_all_is_there():
    """exp keeps its result: the last one is the last thing needed."""

    def function(x):
        y = counts(x)
        counts.steps += 100
        return y

    for early, wanted in ((True, 108), (False, 208)):
        counts = Counts()
        x = taeda.zeros(1, requires_grad=True)
        again(function, x, early_stop=early).backward()
        assert counts.steps == wanted
        counts = Counts()
        with set_checkpoint_early_stop(early):
            y = again(function, x, early_stop=not early)
        y.backward()
        assert counts.steps == wanted


def test_more_tensors_are_seen_without_early_stop():
    with pytest.raises(CheckpointError, match=r"forward: 1\n.*recomputation: 2"):
        backward_of(lambda x: x.exp(), lambda x: x.exp().exp(), early_stop=False)


def test_debug_lists_the_operations_of_both_runs():
    with pytest.raises(CheckpointError, match=r"(?s)original:\n +exp .*recomputation:\n +sin "):
        backward_of(lambda x: x.exp().exp(), lambda x: x.sin(), debug=True)
    with (
        set_checkpoint_debug_enabled(True),
        pytest.raises(CheckpointError, match="Operations executed"),
    ):
        backward_of(lambda x: x.exp().exp(), lambda x: x.exp())
    with pytest.raises(CheckpointError, match="Tip: with debug=True"):
        backward_of(lambda x: x.exp().exp(), lambda x: x.exp())
