"""What does not fit is refused before memory is taken for it."""

from __future__ import annotations

import pytest

import taeda
from taeda._native import core

HUGE = 1 << 27
aten = taeda.ops.aten
CALLS = {
    "select_backward": lambda: aten.select_backward(taeda.ones(5), [HUGE, 2], 1, 1),
    "slice_backward": lambda: aten.slice_backward(taeda.ones(5), [HUGE], 0, 0, 3, 1),
    "diagonal_backward": lambda: aten.diagonal_backward(taeda.ones(5), [HUGE, 2], 0, 0, 1),
    "randint": lambda: taeda.randint(9, 3, (HUGE,)),
    "fftn": lambda: taeda.fft.fftn(taeda.ones(5, 3), (HUGE, 1 << 60)),
    "ifftn": lambda: taeda.fft.ifftn(taeda.ones(5, 3), (HUGE, 1 << 60)),
    "rfftn": lambda: taeda.fft.rfftn(taeda.ones(5, 3), (HUGE, 1 << 60)),
    "irfftn": lambda: taeda.fft.irfftn(taeda.ones(5, 3), (HUGE, 1 << 60)),
}


@pytest.mark.parametrize("name", CALLS)
def test_no_memory_is_taken(name):
    core.memory_reset_peak()
    before = core.memory_stats()["allocated"]
    with pytest.raises(RuntimeError):
        CALLS[name]()
    assert core.memory_stats()["peak"] - before < 1 << 20
