"""Blocks between pages that nobody may touch: each kind of trespass is found, and rightful use is not."""

from __future__ import annotations

import ctypes
import os
import signal

import pytest
from forks import forked

import taeda
from taeda._native import core

BEHIND, BEFORE = 1, 2
WATCHED = "libasan" in os.environ.get("LD_PRELOAD", "")
ends_by_signal = pytest.mark.skipif(
    WATCHED, reason="the address sanitizer catches the signal and ends the process in its own way"
)


def inside(side, action):
    """How a process ends that does this with guarded blocks: 0, or the negated signal; 3 if a
    canary was damaged.
    """

    def guarded():
        before = core.memory_guard(side)
        action()
        if core.memory_guard(0) != before:
            os._exit(3)

    return forked(guarded)


@pytest.mark.parametrize("side", [BEHIND, BEFORE])
@pytest.mark.parametrize("numel", [1, 5, 1024, 1025, 300_000, 2_000_000])
def test_rightful_use(side, numel):
    assert inside(side, lambda: (taeda.ones(numel) + 1).exp().sum().item()) == 0


def poke(tensor, offset):
    ctypes.memset(tensor.data_ptr() + offset, 1, 1)


@ends_by_signal
@pytest.mark.parametrize("bytes", [16, 4096, 40_000])
def test_the_byte_behind_and_the_byte_before(bytes):
    assert inside(BEHIND, lambda: poke(taeda.ones(bytes // 4), bytes)) == -signal.SIGSEGV
    assert inside(BEFORE, lambda: poke(taeda.ones(bytes // 4), -1)) == -signal.SIGSEGV


def test_a_byte_between_the_end_and_the_page():
    assert inside(BEHIND, lambda: poke(taeda.ones(3), 12)) == 3
    assert inside(BEFORE, lambda: poke(taeda.ones(3), 12)) == 3


@ends_by_signal
def test_use_after_the_end():
    def late():
        x = taeda.ones(1000)
        address = x.data_ptr()
        del x
        ctypes.string_at(address, 1)

    assert inside(BEHIND, late) == -signal.SIGSEGV


def test_only_three_modes():
    for mode in (-1, 3):
        with pytest.raises(ValueError, match="a guard is 0"):
            core.memory_guard(mode)
