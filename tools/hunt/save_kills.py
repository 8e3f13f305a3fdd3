"""Kill a process in the middle of a distributed save: `python tools/hunt/save_kills.py --kills 200`.

A child whose two ranks are threads saves over a checkpoint and is killed by SIGKILL at a moment drawn
between its start and its end; every other save is one in the background. The folder then holds the
former checkpoint or the new one, each whole, and loads on another mesh. What killed saves leave
behind goes with the next one that ends. Prints what is wrong; the exit status is 1 if anything is.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import signal
import statistics
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "testing"))

from rank_threads import on_threads

import taeda
import taeda.distributed as dist
import taeda.distributed.checkpoint as dcp
from taeda.distributed.tensor import Replicate, Shard, distribute_tensor

SHAPES = {"rows": (37, 64), "columns": (16, 129), "all": (300,), "number": ()}


def save(folder: Path, number: int, aside: bool) -> None:
    """Two ranks save tensors full of `number`."""

    def work(rank: int) -> None:
        mesh = dist.init_device_mesh("cpu", (2,))
        places: dict[str, Any] = {"rows": Shard(0), "columns": Shard(1)}
        state: dict[str, Any] = {
            name: distribute_tensor(
                taeda.full(shape, float(number)), mesh, [places.get(name, Replicate())]
            )
            for name, shape in SHAPES.items()
        }
        state["step"] = number
        if aside:
            dcp.async_save(state, checkpoint_id=folder).result()
        else:
            dcp.save(state, checkpoint_id=folder)

    on_threads(2, work)


def held(folder: Path) -> tuple[int, str]:
    """The number of the save that the folder holds, and what is wrong with it."""
    found: dict[str, Any] = {}

    def work(rank: int) -> None:
        mesh = dist.init_device_mesh("cpu", (3,))
        state: dict[str, Any] = {
            name: distribute_tensor(
                taeda.zeros(shape), mesh, [Shard(0) if shape else Replicate()], src_data_rank=None
            )
            for name, shape in SHAPES.items()
        }
        state["step"] = -1
        dcp.load(state, checkpoint_id=folder)
        whole = {
            name: value if name == "step" else value.full_tensor() for name, value in state.items()
        }
        if rank == 0:
            found.update(whole)

    on_threads(3, work)
    number = found.pop("step")
    odd = [name for name, value in found.items() if not (value == number).all()]
    return number, f"{', '.join(odd)} of save {number} are mixed" if odd else ""


def child(folder: Path, number: int, aside: bool, delay: float | None) -> tuple[bool, float]:
    """Fork a process that saves, and kill it after `delay` seconds. Did it end by itself; seconds."""
    begin = time.monotonic()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            save(folder, number, aside)
            code = 0
        finally:
            os._exit(code)
    if delay is not None:
        time.sleep(delay)
        os.kill(pid, signal.SIGKILL)
    status = os.waitpid(pid, 0)[1]
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        raise RuntimeError(f"the save {number} failed by itself")
    return os.WIFEXITED(status), time.monotonic() - begin


def main() -> int:
    """Kill so many saves, look at the folder after each, and then save once more."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--share", action="store_true", help="what CI runs: all of it")
    options = parser.parse_args()
    draw, wrong, ends = random.Random(options.seed), 0, Counter[str]()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "checkpoint"
        save(folder, 1, False)  # what is imported late is there then
        save(folder, 2, True)
        held(folder)
        whole = statistics.median(
            child(folder, number, number % 2 == 1, None)[1] for number in range(3, 8)
        )
        before = 7
        for number in itertools.count(8):
            if ends["new"] + ends["former"] == options.kills:
                break
            ended, _ = child(folder, number, number % 2 == 1, draw.uniform(0, whole))
            now, said = held(folder)
            if said or now not in (before, number) or (ended and now != number):
                wrong += 1
                print(f"save {number} over {before}: {said or f'the folder holds {now}'}")
            ends["ended" if ended else "new" if now == number else "former"] += 1
            before = now
        child(folder, 1_000_000, False, None)
        if held(folder) != (1_000_000, "") or len(list(folder.iterdir())) != 3:
            wrong += 1
            print(
                f"after the last save: {held(folder)}, {sorted(p.name for p in folder.iterdir())}"
            )
    print(f"{options.kills} kills within {whole * 1e3:.0f} ms: {dict(ends)}, {wrong} wrong")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
