"""Bits depend neither on the number of threads nor on the width of vectors; the tool that says so
sees a difference.
"""

from __future__ import annotations

import pytest
from by_path import load

import taeda

same_bits = load("tools/hunt/same_bits.py")


@pytest.mark.parametrize("part", range(2))
def test_threads_change_no_bit(part):
    names = same_bits.chosen("", 20 * part, 60)  # a sixtieth each; the session takes all
    calls, differing = same_bits.between_threads(names, ["float32"], (2, 3, 4))
    assert calls >= len(names) // 2
    assert differing == []


@pytest.mark.skipif(not same_bits.has_both_widths(), reason="this machine has no AVX-512")
@pytest.mark.parametrize(("dtype", "parts"), [("float32", 1), ("float64", 3), ("complex64", 3)])
def test_widths_change_no_bit(dtype, parts):
    names = same_bits.chosen("", 0, parts)
    calls, differing = same_bits.between_widths(names, [dtype], ["small"])
    assert calls > len(names) // 3
    assert differing == []


def test_rows_that_depend_on_the_width_are_there():
    from samples import ROWS

    assert set(same_bits.WIDTH_ROWS) <= set(ROWS)
    families = {row.family.partition("_")[0] for row in ROWS.values()}
    assert set(same_bits.WIDTH_FAMILIES) <= families


def test_a_difference_is_seen(monkeypatch):
    threads = taeda.get_num_threads()
    monkeypatch.setattr(
        same_bits, "image", lambda t: str(taeda.get_num_threads()).encode() + bytes(t.tolist()[0])
    )
    calls, differing = same_bits.between_threads(["arange"], ["int64"], (2,))
    assert differing
    assert len(differing) == calls
    assert taeda.get_num_threads() == threads


def test_every_nan_is_the_same_and_zeros_are_not():
    nan = taeda.tensor([float("nan"), 0.0])
    assert same_bits.image(nan) == same_bits.image(-nan + taeda.tensor([0.0, 0.0]))
    assert same_bits.image(taeda.tensor([0.0])) != same_bits.image(taeda.tensor([-0.0]))
