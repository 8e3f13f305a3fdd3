"""Figures of the loader, each beside what is wanted: `python benchmarks/loader.py --cycles 1000`.

Epochs are timed in turns and compared as ratios of medians; torch takes a turn if it is installed.
Times to a first batch and to an error are the longest of all runs, in seconds by the clock, so
other work on the machine counts in. A cycle is one loader with two forked workers, made while
threads of the parent multiply, add and allocate; one whose batch does not come within `--patience`
seconds is a hang. The exit status is 1 if one hangs or an error does not name its cause and sample.
A time that misses its mark says so and no more, for other work on the machine may be why.
"""

from __future__ import annotations

import argparse
import importlib.util
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import taeda
from taeda.utils.data import DataLoader, TensorDataset

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools" / "testing"))
import fork
from loader_data import Numbers, together

Row = tuple[str, float, float, str]  # figure, measured, wanted at most, unit
ROWS, BATCH = 8192, 64
# each with the part of the message that names the cause
FAILURES = {
    "killed": "SIGKILL", "segfault": "SIGSEGV", "abort": "SIGABRT", "exit": "code 0", "hard exit": "code 3",
    "raise": "ValueError", "memory": "MemoryError", "function": "packed", "sleep": "timed out",
}  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--cycles", type=int, default=50)
    parser.add_argument("--patience", type=float, default=30.0)
    options = parser.parse_args()
    wrong = 0
    for figure, measured, wanted, unit in rows(options):
        verdict = "ok" if measured <= wanted else "MISSED"
        wrong += measured == float("inf") or (unit == "hangs" and measured > wanted)
        print(f"{figure:46} {measured:9.2f} {unit:6} wanted <= {wanted:g}  {verdict}", flush=True)
    return 1 if wrong else 0


def rows(options: argparse.Namespace) -> Iterator[Row]:
    yield from epochs(options.rounds)
    for method in ("spawn", "forkserver", "fork"):
        yield f"first batch, 4 workers by {method}", first_batch(method), 1.5, "s"
    for method in ("fork", "spawn"):
        for fate, cause in FAILURES.items():
            yield f"error after a worker's {fate}, {method}", failure(fate, cause, method), 2.0, "s"
    yield f"hangs in {options.cycles} cycles amid threads", hangs(options), 0, "hangs"


# ---- epochs ----


def epochs(rounds: int) -> Iterator[Row]:
    runs = {"loader": passes(taeda), "direct": direct()}
    if importlib.util.find_spec("torch"):
        import torch

        runs["torch"] = passes(torch)
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds + 1):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            times[name].append(time.perf_counter() - start)
    medians = {name: statistics.median(found[1:]) for name, found in times.items()}
    yield (
        "epoch of a TensorDataset / direct indexing",
        medians["loader"] / medians["direct"],
        1.1,
        "times",
    )
    if "torch" in medians:
        yield (
            "epoch of a TensorDataset / torch's",
            medians["loader"] / medians["torch"],
            0.5,
            "times",
        )


def passes(library: Any) -> Callable[[], None]:
    tensors = library.ones(ROWS, 64), library.zeros(ROWS, dtype=library.int64)
    data = library.utils.data
    loader = data.DataLoader(data.TensorDataset(*tensors), batch_size=BATCH, shuffle=True)

    def run() -> None:
        for _ in loader:
            pass

    return run


def direct() -> Callable[[], None]:
    tensors = taeda.ones(ROWS, 64), taeda.zeros(ROWS, dtype=taeda.int64)

    def run() -> None:
        order = taeda.randperm(ROWS)
        for start in range(0, ROWS, BATCH):
            picked = order[start : start + BATCH]
            _ = [tensor[picked] for tensor in tensors]

    return run


# ---- starts and failures ----


def first_batch(method: str) -> float:
    data = TensorDataset(taeda.ones(ROWS, 64), taeda.zeros(ROWS))
    longest = 0.0
    for _ in range(3):
        start = time.perf_counter()
        loader = DataLoader(data, BATCH, num_workers=4, multiprocessing_context=method)
        next(iter(loader))
        longest = max(longest, time.perf_counter() - start)
    return longest


def failure(fate: str, cause: str, method: str) -> float:
    """Seconds from the bad sample (or, for a worker that sleeps, from the end of its time) to the error."""
    timeout = 1.0 if fate == "sleep" else 0.0
    loader = DataLoader(
        Numbers(20, at={9: fate}),
        batch_size=2,
        num_workers=2,
        collate_fn=together,
        timeout=timeout,
        multiprocessing_context=method,
    )
    batches = iter(loader)
    next(batches)
    start = time.perf_counter()
    try:
        for _ in batches:
            pass
    except Exception as error:  # noqa: BLE001 - the error is what is measured
        seconds = time.perf_counter() - start - timeout
        if cause in str(error) and ("sample" in str(error)):
            return seconds
        print(f"  wanted {cause!r} and the sample in: {error}")
    return float("inf")


def hangs(options: argparse.Namespace) -> int:
    import threading

    stop, found = threading.Event(), 0
    threads = fork.keep_busy(192, stop)
    data = TensorDataset(taeda.ones(256, 1000), taeda.zeros(256))
    for _ in range(options.cycles):
        loader = DataLoader(data, BATCH, num_workers=2, timeout=options.patience)
        try:
            assert sum(1 for _ in loader) == 4
        except RuntimeError as error:
            print(f"  {error}")
            found += 1
    stop.set()
    for thread in threads:
        thread.join()
    return found


if __name__ == "__main__":
    sys.exit(main())
