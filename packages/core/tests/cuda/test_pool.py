"""Mixed allocations on several streams against a model: blocks never overlap, a block that another
stream uses is not served before that stream is done, and nothing is lost.

`TAEDA_POOL_STEPS=2000000` runs as many steps; by default they are few.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import standin

STEPS = int(os.environ.get("TAEDA_POOL_STEPS", 15_000))

PROGRAM = """
import bisect, random, sys, taeda
from taeda._native import core
cuda, MIB = taeda.cuda, 1 << 20
steps = int(sys.argv[1]) if len(sys.argv) > 1 else STEPS
rng = random.Random(7)
cuda.init()
streams = [cuda.default_stream(), cuda.Stream(), cuda.Stream()]
starts, spans = [], {}       # addresses of live blocks in order; address -> (bytes, what holds it, stream)
waiting = {}                 # address -> (bytes, event): released while another stream used it
asked = 0

def enter(address, size, holder, stream):
    at = bisect.bisect_left(starts, address)
    assert at == len(starts) or starts[at] >= address + size, "overlaps the next"
    assert at == 0 or starts[at - 1] + spans[starts[at - 1]][0] <= address, "overlaps the one before"
    for other in [a for a in waiting if a < address + size and address < a + waiting[a][0]]:
        assert waiting.pop(other)[1].query(), "served before the other stream was done"
    starts.insert(at, address)
    spans[address] = size, holder, stream

def leave(address):
    global asked
    size, holder, stream = spans.pop(address)
    del starts[bisect.bisect_left(starts, address)]
    asked -= size
    if isinstance(holder, int):
        core.cuda_raw_free(holder)
    elif rng.random() < 0.5:
        other = rng.choice([s for s in streams if s != stream])
        with cuda.stream(other):
            holder.fill_(1)                                  # work that is late
        holder.record_stream(other)
        waiting[address] = size, other.record_event()
    del holder

def check():
    "Blocks tile their segments; those in use are the model's, on the streams that it knows."
    used = {}
    for segment in cuda.memory_snapshot():
        at = segment["address"]
        for block in segment["blocks"]:
            assert block["address"] == at
            at += block["size"]
            if block["state"] == "active_allocated":
                used[block["address"]] = block["requested_size"], segment["stream"]
        assert at == segment["address"] + segment["total_size"]
    assert used == {a: (size, stream.cuda_stream) for a, (size, _, stream) in spans.items()}
    stats = cuda.memory_stats()
    assert stats["allocation.all.current"] == len(spans) and stats["requested_bytes.all.current"] == asked

for step in range(steps):
    if spans and (rng.random() < 0.49 or len(spans) > 300):
        leave(rng.choice(starts))
    else:
        size = rng.choice(
            [
                1,
                512,
                513,
                5000,
                40000,
                MIB,
                MIB + 1,
                rng.randrange(1, 3 * MIB),
                rng.randrange(1, 12 * MIB) if rng.random() < 0.1 else 100,
            ]
        )
        stream = rng.choice(streams)
        asked += size
        if rng.random() < 0.02:
            with cuda.stream(stream):
                x = taeda.empty(size, dtype=taeda.uint8, device="cuda")
            enter(x.data_ptr(), size, x, stream)
            del x
        else:
            enter(
                *(lambda address, block: (address, size, block, stream))(
                    *core.cuda_raw_new(0, size, stream.cuda_stream)
                )
            )
    if step % 5000 == 0:
        check()
    if step % 20000 == 0:
        cuda.empty_cache()
        waiting.clear()
check()
while starts:
    leave(starts[-1])
cuda.synchronize()
cuda.empty_cache()
assert cuda.memory_allocated() == 0 and cuda.memory_reserved() == 0, "all segments are whole again"
assert cuda.memory_stats()["segment.all.allocated"] == cuda.memory_stats()["segment.all.freed"]
print(steps, "steps,", cuda.memory_stats()["segment.all.allocated"], "segments")
"""


@pytest.mark.parametrize(
    "settings",
    ["", "max_split_size_mb:21,roundup_power2_divisions:4", "garbage_collection_threshold:0.1"],
    ids=["plain", "rounded", "collected"],
)
def test_blocks_against_a_model(settings):
    standin.run(
        PROGRAM.replace("STEPS", str(STEPS)), TAEDA_NULL_LATE="1", TAEDA_CUDA_ALLOC_CONF=settings
    )
