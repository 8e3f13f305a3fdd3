"""Two of four elements, and their places in bits."""

from __future__ import annotations

import itertools

import pytest

import taeda
from taeda.sparse._fours import compressed, expanded


@pytest.mark.parametrize("dtype", ["float16", "int8"])
def test_every_pattern(dtype):
    patterns = [p for p in itertools.product((0, 1), repeat=4) if sum(p) <= 2]
    rows = [sum(pair, ()) for pair in itertools.product(patterns, repeat=2)]
    x = taeda.tensor([(list(row) * 4) for row in rows]).to(getattr(taeda, dtype))
    values, meta = compressed(x)
    assert values.shape == (len(rows), 16)
    assert taeda.equal(expanded(values, meta), x)


def test_bits():
    x = taeda.tensor([[0, 0, 5, 7] + [1, 2, 0, 0] + [0] * 8]).half()
    values, meta = compressed(x)
    assert values.tolist() == [[5, 7, 1, 2, 0, 0, 0, 0]]
    assert [meta.item() & 15, meta.item() >> 4 & 15] == [0b1110, 0b0100]


def test_strange_places_stay_within_bounds():
    values = taeda.ones(1, 8).half()
    for word in (0, -1, 32767, -32768):
        made = expanded(values, taeda.tensor([[word]], dtype=taeda.int16))
        assert made.shape == (1, 16)
