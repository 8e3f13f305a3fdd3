"""Means over all ranks at first, then over a smaller group only."""

from __future__ import annotations

import pytest
from rank_threads import on_threads

import taeda
import taeda.distributed as dist
from taeda.distributed._bucket_view import GradBucket
from taeda.distributed.algorithms.ddp_comm_hooks.post_localSGD_hook import (
    PostLocalSGDState,
    post_localSGD_hook,
)


def bucket_of(value, last=True):
    return GradBucket(0, taeda.tensor([value]), [], [taeda.zeros(1)], [1], last)


@pytest.mark.parametrize(("within", "late"), [(True, [0.5, 0.5]), (False, [0.0, 1.0])])
def test_a_step_is_counted_by_its_last_bucket(within, late):
    def work(rank):
        pair, alone = dist.new_group([0, 1]), [dist.new_group([0]), dist.new_group([1])][rank]
        state = PostLocalSGDState(None, pair if within else alone, 1, within)
        buckets = [bucket_of(float(rank), last) for last in (False, True, True)]
        return [post_localSGD_hook(state, each).wait().item() for each in buckets], state.iter

    for rank, (found, steps) in enumerate(on_threads(2, work)):
        assert found == [0.5, 0.5, late[rank]] and steps == 2


def test_without_a_subgroup_it_is_the_machines_processes(monkeypatch):
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "1")
    dist.init_process_group("fake", store=dist.HashStore(), rank=1, world_size=2)
    try:
        state = PostLocalSGDState(None, None, 0)
        assert post_localSGD_hook(state, bucket_of(4.0)).wait().item() == 4
        assert dist.get_process_group_ranks(state.subgroup) == [1]
    finally:
        dist.destroy_process_group()
