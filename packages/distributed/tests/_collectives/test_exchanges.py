"""A part of each rank for each other one, on threads."""

from __future__ import annotations

import pytest
from rank_threads import on_threads

import taeda
import taeda.distributed as dist

SIZE = 3


def test_the_part_of_each_pair_arrives():
    def work(rank):
        outs = [taeda.zeros(2) for _ in range(SIZE)]
        dist.all_to_all(outs, [taeda.full((2,), 10.0 * rank + r) for r in range(SIZE)])
        flat = taeda.zeros(SIZE)
        dist.all_to_all_single(flat, taeda.arange(float(SIZE)) + 10 * rank)
        return [x[1].item() for x in outs], flat.tolist()

    for rank, (outs, flat) in enumerate(on_threads(SIZE, work)):
        assert outs == flat == [10.0 * r + rank for r in range(SIZE)]


def test_parts_of_different_sizes():
    def work(rank):
        sent = [r + 1 for r in range(SIZE)]
        got = taeda.zeros((rank + 1) * SIZE)
        dist.all_to_all_single(got, taeda.full((sum(sent),), float(rank)), [rank + 1] * SIZE, sent)
        return got.tolist()

    for rank, got in enumerate(on_threads(SIZE, work)):
        assert got == [float(r) for r in range(SIZE) for _ in range(rank + 1)]


def test_what_does_not_fit_is_refused(fake):
    size = dist.get_world_size()
    with pytest.raises(ValueError, match="output_tensor_list needs one tensor for each"):
        dist.all_to_all([taeda.zeros(1)], [taeda.ones(1)] * size)
    with pytest.raises(ValueError, match="input_split_sizes"):
        dist.all_to_all_single(taeda.zeros(size), taeda.ones(size), [1] * size, [2] * size)
    with pytest.raises(ValueError, match="the other tensor is"):
        dist.all_to_all([taeda.zeros(1)] * size, [taeda.ones(1, dtype=taeda.int64)] * size)
