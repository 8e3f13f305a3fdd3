"""A breakpoint stops one rank in the debugger and the others in a barrier."""

from __future__ import annotations

import subprocess
import sys

import pytest

import taeda.distributed as dist

PROGRAM = """
import threading
from datetime import timedelta
import taeda.distributed as dist

store = dist.HashStore()

def work(rank):
    dist.init_process_group("inproc", store=store, rank=rank, world_size=2, timeout=timedelta(seconds=20))
    secret = 40 + rank
    for turn in range(2):
        dist.breakpoint(rank=1, skip=1)
        print(f"rank {rank} goes on, turn {turn}", flush=True)
    dist.destroy_process_group()

threads = [threading.Thread(target=work, args=(rank,)) for rank in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


def test_one_rank_stops_and_the_other_waits():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input="up\np secret + 100\nc\n",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    before, stopped, after = done.stdout.partition("rank 1 stopped at breakpoint")
    assert stopped
    assert "turn 1" not in before  # the first call was left out, at the second both stop
    assert "141" in after
    value = after.index("141")
    assert value < after.index("rank 0 goes on, turn 1")
    assert value < after.index("rank 1 goes on, turn 1")


@pytest.mark.parametrize(
    ("arguments", "words"), [((4,), "rank 4 is outside"), ((-1,), "outside"), ((0, -1), "skip")]
)
def test_refusals(arguments, words):
    with pytest.raises(ValueError, match="init_process_group"):
        dist.breakpoint(*arguments)
    dist.init_process_group("fake", store=dist.HashStore(), rank=1, world_size=4)
    try:
        with pytest.raises(ValueError, match=words):
            dist.breakpoint(*arguments)
    finally:
        dist.destroy_process_group()
