"""Threads, loading, waiting for a device, graphs that are made again."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from typing import Any

import taeda
from taeda import Tensor

from ._run import Call, Finding, Run, Waste

__all__ = ["Recompilation", "SlowLoading", "SmallBatches", "Synchronisation", "TooManyThreads"]

LOADING = 0.3  # of the run
BATCHES = 5
SLOW_BATCH = 2_000_000  # nanoseconds: below that a batch is no reason for workers
THIN = 4096  # numbers of a result that threads do not share
FEW = 8  # samples of a batch
GRAPHS = 3  # of one function, after the first


def _cores() -> int:
    """That this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class SlowLoading(Waste):
    """The program waits for its data."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._took: Counter[str] = Counter()
        self._batches: Counter[str] = Counter()
        self._workers: dict[str, int] = {}

    def event(self, kind: str, place: str, detail: Any) -> None:
        if kind == "load":
            took, loader = detail
            self._took[place] += took
            self._batches[place] += 1
            self._workers[place] = loader.num_workers

    def found(self) -> list[Finding]:
        made = []
        for place, took in self._took.items():
            count = self._batches[place]
            if count >= BATCHES and took >= max(LOADING * self.run.total, count * SLOW_BATCH):
                workers = self._workers[place]
                now = f"{workers} workers load" if workers else "the program itself loads"
                made.append(
                    Finding(
                        place,
                        f"{now} the batches, and each takes {took / count / 1e6:.3g} ms. Give the DataLoader "
                        "more workers (num_workers), or do less for each sample.",
                        f"up to {self.run.share(took)}",
                    )
                )
        return made


class SmallBatches(Waste):
    """So little work in each operation that threads have nothing to share."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._sizes: dict[str, set[int]] = defaultdict(set)
        self._results: list[int] = []
        self._thick = False

    def model(self, module: Any, args: tuple[Any, ...], place: str) -> None:
        first = next(
            (value for value in args if isinstance(value, Tensor) and value.ndim > 1), None
        )
        if first is not None and module.training:
            self._sizes[place].add(int(first.shape[0]))

    def operation(self, call: Call) -> None:
        parts = [value for value in (call.made, *call.args) if isinstance(value, Tensor)]
        if call.step and any(value.numel() > THIN for value in parts):
            self._thick = True

    def found(self) -> list[Finding]:
        threads = taeda.get_num_threads()
        if self._thick or threads < 2 or self.run.step < BATCHES:
            return []
        return [
            Finding(
                place,
                f"a batch has {max(sizes)} samples, and no operation has more than {THIN:,} numbers: "
                f"{threads} threads have nothing to share. Use larger batches, or taeda.set_num_threads(1).",
                f"up to {threads} times the samples in the same time",
            )
            for place, sizes in self._sizes.items()
            if max(sizes) <= FEW
        ]


class TooManyThreads(Waste):
    """More threads than processors."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._loaders: dict[str, int] = {}

    def event(self, kind: str, place: str, detail: Any) -> None:
        if kind == "load":
            self._loaders[place] = detail[1].num_workers

    def found(self) -> list[Finding]:
        cores = _cores()
        made = [
            Finding(
                place,
                f"{count} threads share {cores} processors: they wait for each other at the end of every "
                f"operation. Leave set_num_threads out, or take {cores} at most.",
                f"up to {100 - 100 * cores // count} % of what large operations take",
            )
            for place, count in self.run.threads[-1:]
            if count > cores
        ]
        made += [
            Finding(
                place,
                f"{count} workers of a DataLoader share {cores} processors with the training. Take "
                f"{max(1, cores - 1)} at most.",
                "time of the training that workers take now",
            )
            for place, count in self._loaders.items()
            if count > 2 * cores
        ]
        return made


class Synchronisation(Waste):
    """The program waits for the device in every step."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._steps: defaultdict[str, set[int]] = defaultdict(set)
        self._took: Counter[str] = Counter()

    def event(self, kind: str, place: str, detail: Any) -> None:
        if kind == "synchronised":
            self._steps[place].add(self.run.step)
            self._took[place] += detail

    def found(self) -> list[Finding]:
        return [
            Finding(
                place,
                "the program waits for the device in every step, and the device for the program after it. "
                "Leave synchronize() out: whatever reads a result waits by itself.",
                f"up to {self.run.share(self._took[place])}",
            )
            for place, steps in self._steps.items()
            if self.run.every_step(steps)
        ]


class Recompilation(Waste):
    """A compiled function that gets graph after graph."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._causes: dict[str, str] = {}
        self._counts: Counter[str] = Counter()
        self._places: dict[str, str] = {}

    def event(self, kind: str, place: str, detail: Any) -> None:
        if kind == "graph":
            name, cause = detail
            self._causes[name], self._places[name] = cause, place
            self._counts[name] += 1

    def found(self) -> list[Finding]:
        return [
            Finding(
                self._places[name],
                f"the compiled function {name} got {count + 1} graphs, because {self._causes[name]}. Bring "
                "its arguments to few sizes (fill batches up), or compile a part that does not see "
                "what changes.",
                f"the making of {count} graphs, each many times a call",
            )
            for name, count in self._counts.items()
            if count >= GRAPHS
        ]
