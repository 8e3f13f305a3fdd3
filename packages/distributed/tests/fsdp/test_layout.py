"""Parameters in the buffers of a unit: rows and wholes are the same values."""

from __future__ import annotations

import pytest

import taeda
from taeda.distributed.fsdp._layout import Layout

SHAPES = [(5, 3), (1,), (4,), (7, 2, 2), (2, 0)]


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 8])
def test_parts_to_wholes_and_back(ranks):
    layout = Layout([taeda.Size(shape) for shape in SHAPES], ranks)
    wholes = [taeda.arange(taeda.Size(s).numel()).float().view(s) + 1 for s in SHAPES]
    rows = layout.rows(wholes, wholes[0], 2)
    assert rows.shape == (ranks, layout.length + 2)
    assert rows.sum() == sum(whole.sum() for whole in wholes)
    again = []
    for rank in range(ranks):
        parts = layout.parts(rows[rank], rank)
        for number, part in enumerate(parts):
            first, count = layout.part(number, rank)
            assert part.tolist() == wholes[number][first : first + count].tolist()
        again.append(layout.row(parts))
    for made, whole in zip(layout.wholes(taeda.stack(again)), wholes, strict=True):
        assert made.shape == whole.shape and made.tolist() == whole.tolist()


def test_a_gradient_that_is_missing_is_zero():
    layout = Layout([taeda.Size((2,)), taeda.Size((2,))], 2)
    rows = layout.rows([None, taeda.tensor([3.0, 4.0])], taeda.ones(1), 0)
    assert rows.tolist() == [[0, 3], [0, 4]]
