"""Sums of rows over bags on a CUDA device: the processor's bits and refusals, without CuPy."""

from __future__ import annotations

from typing import Any

import pytest

PROGRAM = """
def sums(table, places, edges):
    here = taeda._bag_sums(table, places, edges)
    there = taeda._bag_sums(table.cuda(), places.cuda(), edges.cuda())
    assert there.is_cuda and there.dtype == here.dtype and taeda.equal(there.cpu(), here)
for dtype in (taeda.float32, taeda.float64):
    table = taeda.randn(9, 40).to(dtype)
    places = taeda.randint(0, 9, (100,))
    sums(table, places, taeda.tensor([0, 3, 3, 90, 100]))
    sums(table, places, taeda.tensor([5, 60]))
    sums(table, places[:0], taeda.tensor([0, 0, 0]))
    sums(table, places, taeda.tensor([4]))
    sums(table[:, :0], places, taeda.tensor([0, 100]))
table, places = table.cuda(), places.cuda()
for edges in ([3, 2], [-1, 4], [0, 101]):
    refuses(RuntimeError, "edges rise", lambda: taeda._bag_sums(table, places, taeda.tensor(edges).cuda()))
taeda._bag_sums(table, places + 5, taeda.tensor([0, 100]).cuda())  # the next wait tells
refuses(IndexError, "out of", taeda.cuda.synchronize)
"""


@pytest.mark.slow
def test_bags_are_the_processors(run: Any) -> None:
    run(PROGRAM, None)
