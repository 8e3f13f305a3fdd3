"""How near operations come to what this machine can do: arithmetic and bytes against measured limits.

The roofline of Williams, Waterman and Patterson (2009): an operation with `i` operations of
arithmetic a byte can reach min(arithmetic of the machine, i * bytes a second).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import taeda

from ._recording import Range

__all__ = ["Limits", "Row", "Work", "measure", "roofline", "work_of"]


@dataclass
class Work:
    """What all calls of an operation did."""

    calls: int = 0
    took: int = 0  # nanoseconds
    flops: int = 0
    moved: int = 0  # bytes of arguments and results

    def add(self, noted: Range) -> None:
        """One call more."""
        self.calls += 1
        self.took += noted.end - noted.start
        self.flops += noted.flops
        self.moved += noted.moved


class Limits(NamedTuple):
    """What this machine does at most, as measured: operations and bytes a second."""

    flops: float
    moved: float


class Row(NamedTuple):
    """One operation under the roof."""

    name: str
    intensity: float  # operations a byte
    flops: float  # operations a second
    moved: float  # bytes a second
    reached: float  # of what it can reach, 0 to 1


def work_of(ranges: Iterable[Range]) -> dict[str, Work]:
    """What operations did, by name, as far as it was noted."""
    work: dict[str, Work] = {}
    for one in ranges:
        if one.kind == "cpu_op":
            work.setdefault(one.name, Work()).add(one)
    return work


def measure() -> Limits:
    """The best of a few products of 512 x 512, and of a few copies of 32 MiB."""
    a, big = taeda.ones(512, 512), taeda.ones(8 << 20)
    target = taeda.empty_like(big)
    return Limits(
        2 * 512**3 / _best(lambda: a @ a), 2 * (32 << 20) / _best(lambda: target.copy_(big))
    )


def _best(run: Callable[[], Any]) -> float:
    """Seconds of the fastest of five."""
    times = []
    for _ in range(5):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def roofline(work: Mapping[str, Work], limits: Limits) -> list[Row]:
    """Operations with their place under the roof, those that took longest first. What moved no bytes
    has none.
    """
    rows = []
    for name, one in sorted(work.items(), key=lambda item: -item[1].took):
        if one.took and one.moved:
            seconds = one.took / 1e9
            intensity = one.flops / one.moved
            flops, moved = one.flops / seconds, one.moved / seconds
            reached = max(flops / limits.flops, moved / limits.moved)
            rows.append(Row(name, intensity, flops, moved, min(1.0, reached)))
    return rows
