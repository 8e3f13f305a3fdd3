"""Averaging over small groups often and over large ones seldom."""

from __future__ import annotations

import pytest
from rank_threads import on_threads

import taeda
import taeda.distributed as dist
from taeda.distributed.algorithms.model_averaging.hierarchical_model_averager import (
    HierarchicalModelAverager,
)


def test_the_largest_group_whose_period_it_is():
    def work(rank):
        p = taeda.nn.Parameter(taeda.zeros(1))
        p.grad = taeda.zeros(1)
        averager = HierarchicalModelAverager({1: 2, 2: 4}, warmup_steps=1)
        found = []
        for _ in range(4):
            p.data.fill_(float(rank))
            averager.average_parameters([p])
            found.append(p.item())
        return found

    # a warm-up step, then all, then pairs, then all
    assert on_threads(4, work) == [
        [0, 1.5, 0.5, 1.5],
        [1, 1.5, 0.5, 1.5],
        [2, 1.5, 2.5, 1.5],
        [3, 1.5, 2.5, 1.5],
    ]


@pytest.mark.parametrize(
    ("periods", "warm", "words"),
    [
        ({}, 0, "names at least one period"),
        (None, 0, "names at least one period"),
        ({1: 2}, -1, "warmup_steps is not negative"),
        ({0: 4}, 0, "periods and sizes both grow"),
        ({2: 2, 1: 4}, 0, "periods and sizes both grow"),
        ({1: 4, 2: 4}, 0, "periods and sizes both grow"),
        ({1: 2}, 0, "size is that of the whole group, 4, not 2"),
    ],
)
def test_refusals(periods, warm, words):
    dist.init_process_group("fake", store=dist.HashStore(), rank=0, world_size=4)
    try:
        with pytest.raises(ValueError, match=words):
            HierarchicalModelAverager(periods, warm)
    finally:
        dist.destroy_process_group()
