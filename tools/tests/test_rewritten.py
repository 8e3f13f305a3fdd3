"""A thread rewrites what a call reads; the call ends, and so does the thread."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "hunt"))
import rewritten
from samples import ROWS, samples

import taeda


def test_every_kind_of_tensor_is_rewritten():
    for t in (
        taeda.ones(3, dtype=taeda.bool),
        taeda.ones(3, dtype=taeda.int32),
        taeda.ones(3, dtype=taeda.int64),
        taeda.ones(3),
        taeda.ones(3, dtype=taeda.complex64),
    ):
        before = t.tolist()
        rewritten.rewrite(t, 0)
        assert t.tolist() != before


def test_the_thread_takes_turns_and_gives_the_numbers_back():
    x = taeda.arange(5)
    with rewritten.rewriting([x]) as turns:
        while not turns[0]:
            pass
    assert x.tolist() == [0, 1, 2, 3, 4]


def test_a_kernel_is_large_enough_to_be_disturbed():
    (sample, *_) = rewritten.raced(ROWS["gather"])
    assert max(t.numel() for t in sample.tensors()) >= 100_000
    small = next(samples("gather"))
    assert rewritten.race(small, 3) <= 3


@pytest.mark.parametrize(
    "rows", ["^(gather|scatter)", "^(index|take|put)", "^(masked|nonzero|embedding|bincount)"]
)
def test_no_call_dies(rows):
    assert rewritten.main(["--rows", rows, "--calls", "6"]) == 0
