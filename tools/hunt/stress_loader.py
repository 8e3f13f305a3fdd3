"""Loaders of every kind, one after another, with every sample checked:
`python tools/hunt/stress_loader.py --seconds 300 --seed 7`.

Sizes of data, batches, tensors, arrays and texts, start methods, numbers of workers and prefetched
batches are drawn by chance; batches are kept for a while, epochs broken off, the parent forks. A
wrong sample, a warning, an error, a batch that does not come within 60 s, or a descriptor that
stays open is a failure.
"""

from __future__ import annotations

import argparse
import gc
import os
import random
import sys
import time
import warnings
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "testing"))
from loader_data import Assorted, together

from taeda.utils.data import DataLoader


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("error")
    chance, count = random.Random(options.seed), 0
    end = time.monotonic() + options.seconds
    for method in ("fork", "spawn", "forkserver"):  # their servers stay
        list(DataLoader(Assorted(1), num_workers=1, multiprocessing_context=method))
    before = descriptors()
    while time.monotonic() < end:
        run_one(chance)
        count += 1
    left = descriptors() - before
    print(
        f"{count} loaders, seed {options.seed}: every sample right; descriptors left open: {left}"
    )
    return 1 if left > 0 else 0


def descriptors() -> int:
    gc.collect()
    return len(os.listdir("/proc/self/fd"))


def run_one(chance: random.Random) -> None:
    data = Assorted(chance.randint(1, 120))
    loader = DataLoader(
        data,
        batch_size=chance.randint(1, 9),
        collate_fn=together,
        timeout=60,
        num_workers=chance.randint(1, 4),
        prefetch_factor=chance.randint(1, 5),
        persistent_workers=chance.random() < 0.5,
        in_order=chance.random() < 0.8,
        multiprocessing_context=chance.choice(["fork", "fork", "fork", "forkserver", "spawn"]),
    )
    for _ in range(chance.randint(1, 3)):
        one_pass(loader, chance)


def one_pass(loader: Any, chance: random.Random) -> None:
    n = len(loader.dataset)
    stop = chance.randint(1, len(loader)) if chance.random() < 0.3 else None
    seen: list[int] = []
    kept: list[list[Any]] = []
    for number, batch in enumerate(loader, 1):
        check(batch)
        seen += [sample["index"] for sample in batch]
        keep_some(kept, batch, chance)
        if number == stop:
            break
    else:
        assert sorted(seen) == list(range(n)), seen
    if loader.in_order:
        assert seen == list(range(len(seen))), seen
    for batch in kept:
        check(batch)


def check(batch: list[Any]) -> None:
    for sample in batch:
        Assorted.check(sample)


def keep_some(kept: list[list[Any]], batch: list[Any], chance: random.Random) -> None:
    if chance.random() < 0.4:
        kept.append(batch)
    if kept and chance.random() < 0.2:
        del kept[chance.randrange(len(kept))]
    if chance.random() < 0.01:
        pid = os.fork()
        if pid == 0:
            os._exit(0)
        os.waitpid(pid, 0)


if __name__ == "__main__":
    sys.exit(main())
