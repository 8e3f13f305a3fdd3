"""What is made of the values of all ranks once they are there."""

from __future__ import annotations

import taeda
from taeda.distributed._sums.brought import deal, join, slices

PARTS = [taeda.arange(6) + 10 * rank for rank in range(3)]


def test_parts_are_joined_in_the_order_of_ranks():
    output = taeda.zeros(18, dtype=taeda.int64)
    join(PARTS, output)
    assert output.tolist() == [0, 1, 2, 3, 4, 5, 10, 11, 12, 13, 14, 15, 20, 21, 22, 23, 24, 25]


def test_slices_are_views_of_one_rank_s_piece_of_each_part():
    found = slices(PARTS, 1)
    assert [piece.tolist() for piece in found] == [[2, 3], [12, 13], [22, 23]]
    assert found[0].data_ptr() == PARTS[0].data_ptr() + 16


def test_a_rank_is_dealt_what_each_has_for_it():
    outputs = [taeda.zeros(2, dtype=taeda.int64) for _ in range(3)]
    deal(PARTS, outputs, 2)
    assert [output.tolist() for output in outputs] == [[4, 5], [14, 15], [24, 25]]
