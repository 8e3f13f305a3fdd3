"""Times of `save` and `load` beside torch's, in turns in one process; checksums on in both.
Below 1, taeda is faster.

    python benchmarks/checkpoints.py                        10 kB, 1, 64 and 512 MB, and 10,000 small tensors
    python benchmarks/checkpoints.py --folder /dev/shm      without a disk
    python benchmarks/checkpoints.py 64 --rounds 21
    python benchmarks/checkpoints.py --sync off             taeda waits for nothing either
    python benchmarks/checkpoints.py --format pt            taeda writes and reads torch's zip too

taeda's `save` returns when the numbers are on the disk; torch's when the system has taken them. The
column "synced" is torch's save followed by a wait for the file, and with `--sync full` for its
name: the same guarantee, but for the moment at which torch has emptied the old file. A load is
measured warm: the file is in the page cache.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

import taeda

SMALL = "small"  # 10,000 tensors of 64 numbers


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "cases", nargs="*", default=["0.01", "1", "64", "512", SMALL], help="MB, or small"
    )
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--folder", help="where to write; a temporary folder by default")
    parser.add_argument("--sync", default="normal", choices=["off", "normal", "full"])
    parser.add_argument("--format", default="safetensors", choices=["safetensors", "pt"])
    chosen = parser.parse_args()
    print(
        f"{'case':>10}  {'save':>9} {'torch':>9} {'ratio':>6} {'synced':>9} {'ratio':>6}  "
        f"{'load':>9} {'torch':>9} {'ratio':>6}"
    )
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        for case in chosen.cases:
            print(_row(case, measure(case, chosen, Path(folder))), flush=True)


def measure(case: str, chosen: argparse.Namespace, folder: Path) -> dict[str, list[float]]:
    """Seconds of each round for each thing that is measured."""
    ours, theirs = state(taeda, case), state(torch, case)
    a, b, rounds = folder / f"a.{chosen.format}", folder / "b.pt", chosen.rounds
    waited = (b, folder) if chosen.sync == "full" else (b,)
    work: dict[str, Callable[[], Any]] = {
        "save": lambda: taeda.save(ours, a, format=chosen.format, sync=chosen.sync),
        "torch save": lambda: torch.save(theirs, b),
        "synced": lambda: (torch.save(theirs, b), sync(*waited)),
        "load": lambda: taeda.load(a),
        "torch load": lambda: torch.load(b),
    }
    times: dict[str, list[float]] = {name: [] for name in work}
    for turn in range(rounds + 1):
        for name, action in work.items():
            begin = time.perf_counter()
            action()
            if turn:  # the first warms up
                times[name].append(time.perf_counter() - begin)
    return times


def state(library: Any, case: str) -> dict[str, Any]:
    """A dict of tensors of so many MB in 16 pieces, or many small ones."""
    if case == SMALL:
        return {f"layer{i}.weight": library.randn(64) for i in range(10_000)}
    return {f"w{i}": library.randn(int(float(case) * 1024), 16) for i in range(16)}


def sync(*places: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    for place in places:
        descriptor = os.open(place, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)


def _row(case: str, times: dict[str, list[float]]) -> str:
    ms = {name: 1e3 * statistics.median(values) for name, values in times.items()}
    label = case if case == SMALL else f"{float(case):g} MB"
    return (
        f"{label:>10}  {ms['save']:9.1f} {ms['torch save']:9.1f} {ms['save'] / ms['torch save']:6.2f} "
        f"{ms['synced']:9.1f} {ms['save'] / ms['synced']:6.2f}  "
        f"{ms['load']:9.1f} {ms['torch load']:9.1f} {ms['load'] / ms['torch load']:6.2f}"
    )


if __name__ == "__main__":
    main()
