"""Means of gradients, also in narrower types, on threads."""

from __future__ import annotations

import pytest
from rank_threads import on_threads

import taeda
import taeda.distributed as dist
from taeda.distributed._bucket_view import GradBucket
from taeda.distributed.algorithms.ddp_comm_hooks import default_hooks as hooks

VALUES = [1.0, -2.5, 1 / 3, 1000.1]
HOOKS = {
    "plain": (hooks.allreduce_hook, taeda.float32),
    "half": (hooks.fp16_compress_hook, taeda.float16),
    "bfloat16": (hooks.bf16_compress_hook, taeda.bfloat16),
    "wrapped half": (hooks.fp16_compress_wrapper(hooks.allreduce_hook), taeda.float16),
    "wrapped bfloat16": (hooks.bf16_compress_wrapper(hooks.allreduce_hook), taeda.bfloat16),
}


def bucket_of(values):
    return GradBucket(0, taeda.tensor(values), [], [taeda.zeros(len(values))], [len(values)], True)


@pytest.mark.parametrize("name", HOOKS)
def test_the_mean_over_ranks_with_the_width_of_the_hook(name):
    hook, narrow = HOOKS[name]

    def work(rank):
        bucket = bucket_of([value * (rank + 1) for value in VALUES])
        result = hook(None, bucket).wait()
        return result.dtype, result.tolist()

    limit = 2 * taeda.finfo(narrow).eps
    for dtype, found in on_threads(3, work):
        assert dtype is taeda.float32
        assert found == pytest.approx([2 * value for value in VALUES], rel=limit)


def test_what_is_narrow_on_the_way_is_rounded_to_it():
    def work(rank):
        exact = hooks.allreduce_hook(dist.group.WORLD, bucket_of([1000.1])).wait().item()
        rough = hooks.bf16_compress_hook(dist.group.WORLD, bucket_of([1000.1])).wait().item()
        return exact, rough

    ((exact, rough),) = on_threads(1, work)
    assert exact == pytest.approx(1000.1, rel=1e-6) and rough == 1000.0
