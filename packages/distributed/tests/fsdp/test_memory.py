"""What a rank holds: shards, and nothing that waits for the collector of cycles."""

from __future__ import annotations

import gc
import threading

from rank_threads import on_threads

import taeda
from taeda import nn
from taeda._core_api.runtime import memory_stats
from taeda.distributed.fsdp import fully_shard

WIDTH, LAYERS, RANKS = 256, 4, 2
WHOLE = LAYERS * WIDTH * WIDTH * 4  # bytes of all weights


def held(meet):
    """Bytes that the process holds, with all ranks at this line."""
    meet.wait(60)
    found = memory_stats()["allocated"]
    meet.wait(60)
    return found


def test_ranks_hold_shards_and_states_of_them_and_no_whole_parameters():
    meet = threading.Barrier(RANKS)

    def work(rank):
        before = held(meet)
        model = nn.Sequential(*(nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(LAYERS)))
        for layer in model:
            fully_shard(layer)
        fully_shard(model)
        told = [held(meet) - before]
        optimizer = taeda.optim.AdamW(model.parameters())
        for _ in range(5):
            model(taeda.ones(1, WIDTH)).sum().backward()
            optimizer.step()
            optimizer.zero_grad()
            told.append(held(meet) - before)
        return told

    taeda.ones(1, WIDTH).sum()
    gc.collect()
    gc.disable()
    try:
        sharded, *steps = on_threads(RANKS, work)[0]
    finally:
        gc.enable()
    assert sharded < 1.1 * WHOLE  # of all ranks together
    # parameters and two states; the engine on threads keeps what its last collectives carried
    assert steps[-1] < 1.05 * steps[0] and steps[-1] < 5 * WHOLE
