"""Several statements compared in one run, taking turns, so that all meet the same noise."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from taeda._core_api import runtime as _core
from taeda._core_api.files import atomic_write

from ._units import spelled_bytes, spelled_time
from .measurement import Measurement, quantile
from .timer import Timer

__all__ = ["Interleaved", "interleave"]

_PEAK_GRAIN = 64 << 10  # the allocator settles its counters in such steps
Progress = Callable[[int, int], Any]


@dataclass(frozen=True)
class Row:
    """One statement's figures. Ratios are to the first statement, one a round, so noise that both
    met is gone.
    """

    measurement: Measurement
    ratios: list[float]
    cpu_seconds: float  # processor time of all threads, for a run
    blocks: float  # blocks of tensor memory taken, for a run
    peak_bytes: int  # most tensor memory held at once beyond what was held before, to 64 KiB

    @property
    def ratio(self) -> float:
        """Median of the rounds' ratios."""
        return quantile(sorted(self.ratios), 0.5)

    @property
    def spread(self) -> tuple[float, float]:
        """The middle half of the rounds' ratios."""
        ordered = sorted(self.ratios)
        return quantile(ordered, 0.25), quantile(ordered, 0.75)


class Interleaved:
    """What `interleave` found: `rows`, in the order of the statements; `str()` is a table.

    >>> plus, add = Timer("x + 1", "x = taeda.ones(8)"), Timer("x.add(1)", "x = taeda.ones(8)")
    >>> found = interleave(plus, add, rounds=3, min_run_time=0.01)
    >>> str(found).splitlines()[-1]
    '3 rounds; time, CPU and blocks are for one run'
    """

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = list(rows)

    def __str__(self) -> str:
        head = ["", "median", "IQR", "ratio", "middle half", "CPU", "blocks", "peak"]
        body = [_cells(row) for row in self.rows]
        widths = [max(map(len, column)) for column in zip(head, *body, strict=True)]
        lines = [
            "  ".join(
                text.ljust(width) if i == 0 else text.rjust(width)
                for i, (text, width) in enumerate(zip(cells, widths, strict=True))
            )
            for cells in [head, *body]
        ]
        rounds = len(self.rows[0].ratios)
        return "\n".join([*lines, "", f"{rounds} rounds; time, CPU and blocks are for one run"])

    __repr__ = __str__

    def to_json(self, path: str | Path | None = None) -> str:
        """The figures as JSON; also written to `path`, whole or not at all, if one is given."""
        text = json.dumps([_plain(row) for row in self.rows], indent=1)
        if path is not None:
            with atomic_write(Path(path)) as file:
                file.write(text.encode())
        return text

    def plot(self, path: str | Path) -> None:
        """Write a PNG with a box of times for each statement. ImportError without matplotlib."""
        from ._chart import draw

        draw([row.measurement for row in self.rows], Path(path))


def interleave(
    *timers: Timer, rounds: int = 11, min_run_time: float = 0.2, progress: Progress | None = None
) -> Interleaved:
    """Time several statements in turns: each round runs a block of every one, beginning with
    another each time.

    A block lasts about `min_run_time / rounds` seconds. Ratios are taken within a round, which removes
    the noise that both met, and are to the first statement: below 1 is faster. `progress(done, rounds)` is
    called after each round. ValueError without a timer or a round.

    >>> import taeda
    >>> x = taeda.ones(8)
    >>> plus, add = (Timer(text, globals={"x": x}) for text in ("x + 1", "x.add(1)"))
    >>> found = interleave(plus, add, rounds=3, min_run_time=0.01)
    >>> [len(row.ratios) for row in found.rows], found.rows[0].ratio
    ([3, 3], 1.0)
    """
    if not timers:
        raise ValueError("interleave compares timers, and none came")
    if rounds < 1:
        raise ValueError(f"interleave needs at least 1 round, got rounds={rounds}")
    turns = [_Turn(timer, min_run_time / rounds) for timer in timers]
    for number in range(rounds):
        start = number % len(turns)
        for turn in turns[start:] + turns[:start]:
            turn.run()
        if progress is not None:
            progress(number + 1, rounds)
    first = turns[0].times()
    return Interleaved([turn.row(first) for turn in turns])


class _Turn:
    """One statement and what its blocks have cost so far."""

    def __init__(self, timer: Timer, block_seconds: float) -> None:
        self.timer = timer
        with timer._threads():
            self.number = _fill(timer, block_seconds)
        self.seconds: list[float] = []
        self.cpu: list[float] = []
        self.blocks = 0
        self.peak = 0

    def run(self) -> None:
        with self.timer._threads():
            before, cpu = _reset_memory(), time.process_time()
            self.seconds.append(self.timer._inner.timeit(self.number))
            self.cpu.append(time.process_time() - cpu)
            after = _core.memory_stats()
        self.blocks += after["calls"] - before["calls"]
        self.peak = max(self.peak, after["peak"] - before["allocated"])

    def times(self) -> list[float]:
        """Seconds for one run, a round each: blocks of two statements differ in their number of runs."""
        return [seconds / self.number for seconds in self.seconds]

    def row(self, first: list[float]) -> Row:
        measured = self.timer._measurement(self.number, self.seconds)
        ratios = [ours / theirs for ours, theirs in zip(self.times(), first, strict=True)]
        runs = self.number * len(self.seconds)
        return Row(measured, ratios, sum(self.cpu) / runs, self.blocks / runs, self.peak)


def _fill(timer: Timer, seconds: float) -> int:
    """How many runs last about `seconds`; at least as many as the clock needs."""
    number = timer.block_size(seconds)
    took = timer._inner.timeit(number)
    return max(number, round(number * seconds / took)) if took > 0 else number


def _reset_memory() -> dict[str, int]:
    _core.memory_reset_peak()
    return _core.memory_stats()


def _cells(row: Row) -> list[str]:
    low, high = row.spread
    one = row.measurement
    return [
        one.title.splitlines()[0][:60],
        spelled_time(one.median),
        spelled_time(one.iqr),
        f"{row.ratio:.3f}",
        f"{low:.3f} to {high:.3f}",
        spelled_time(row.cpu_seconds),
        f"{row.blocks:.3g}",
        spelled_bytes(row.peak_bytes) if row.peak_bytes >= _PEAK_GRAIN else "< 64 KiB",
    ]


def _plain(row: Row) -> dict[str, Any]:
    one = row.measurement
    return {
        "task": asdict(one.task_spec),
        "runs_per_time": one.number_per_run,
        "seconds": one.times,
        "median_seconds": one.median,
        "ratios": row.ratios,
        "ratio": row.ratio,
        "ratio_middle_half": row.spread,
        "cpu_seconds": row.cpu_seconds,
        "blocks": row.blocks,
        "peak_bytes": row.peak_bytes,
    }
