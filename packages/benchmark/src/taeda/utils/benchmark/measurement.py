"""What was measured: the task, its times, and what can honestly be said of them."""

from __future__ import annotations

import dataclasses
import math
import statistics
from collections.abc import Iterable
from functools import cached_property
from typing import Any

from ._units import spelled_time

__all__ = ["Measurement", "TaskSpec", "ordered_unique", "quantile"]

# Two-sided 90 % of the normal distribution: the field's convention for these figures.
_Z = 1.645
# Below this half-width an interval says more about the clock than about the statement.
_CLOCK_SECONDS = 2.5e-8
_MOST_FIGURES = 4
_ENOUGH_TIMES = 4
# Shares of the median that the interquartile range may reach before a reader is warned, with the words.
_NOISE = (
    (0.25, "This suggests significant environmental influence."),
    (0.1, "This could indicate system fluctuation."),
)


@dataclasses.dataclass(frozen=True)
class TaskSpec:
    """What was run, under which names, with how many threads. Equal specs are replicates of one task.

    >>> TaskSpec("x + y", "pass", label="sum", sub_label="8 numbers").title
    'sum: 8 numbers'
    """

    stmt: str
    setup: str
    global_setup: str = ""
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    env: str | None = None
    num_threads: int = 1

    @property
    def title(self) -> str:
        """The label, else the statement; with the sub-label behind it."""
        return (self.label or self.stmt) + (f": {self.sub_label}" if self.sub_label else "")

    def summarize(self) -> str:
        """Title, description and setup, a line each (setup over several lines if it has several)."""
        words = [self.title, self.description or ""]
        if self.setup and self.setup != "pass":
            lines = self.setup.splitlines()
            words.append(f"setup: {lines[0]}" if len(lines) == 1 else _indented("setup:", lines))
        return "\n".join(filter(None, words))


def _indented(head: str, lines: list[str]) -> str:
    return "\n".join([head, *(f"  {line}" for line in lines)])


@dataclasses.dataclass(eq=True)
class Measurement:
    """Times of one task: `raw_times` in seconds, each over `number_per_run` runs of the statement.

    Attributes of the task (`stmt`, `label`, `num_threads`, ...) are readable here. Can be pickled.

    >>> spec = TaskSpec("x + y", "pass")
    >>> m = Measurement(10, [2.5, 5.0, 10.0], spec)
    >>> m.median, m.times, m.stmt
    (0.5, [0.25, 0.5, 1.0], 'x + y')
    """

    number_per_run: int
    raw_times: list[float]
    task_spec: TaskSpec
    metadata: dict[Any, Any] | None = None

    def __getattr__(self, name: str) -> Any:
        # Only asked for what is not here. Unpickling asks before `task_spec` exists.
        if name.startswith("__") or "task_spec" not in vars(self):
            raise AttributeError(f"Measurement has no attribute {name!r}")
        return getattr(self.task_spec, name)

    def __hash__(self) -> int:
        return hash((self.number_per_run, tuple(self.raw_times), self.task_spec))

    @cached_property
    def times(self) -> list[float]:
        """Seconds for one run of the statement, in the order of measuring."""
        return [t / self.number_per_run for t in self.raw_times]

    @cached_property
    def _sorted(self) -> list[float]:
        return sorted(self.times)

    @property
    def median(self) -> float:
        """Median seconds for a run."""
        return quantile(self._sorted, 0.5)

    @property
    def mean(self) -> float:
        """Mean seconds for a run."""
        return statistics.fmean(self._sorted) if self._sorted else math.nan

    @property
    def iqr(self) -> float:
        """The interquartile range: seconds between the first and the third quartile."""
        return quantile(self._sorted, 0.75) - quantile(self._sorted, 0.25)

    @property
    def significant_figures(self) -> int:
        """How many figures of the median the middle half of the times supports, 1 to 4.

        The half-width of a 90 % interval of the mean of the interquartile times, taken as normal, against
        the median. Tails are left out because they belong to the machine.
        """
        n = len(self._sorted)
        middle = self._sorted[n // 4 : math.ceil(3 * n / 4)]
        if len(middle) < 2 or self.median <= 0:
            return 1
        half_width = max(_Z * statistics.pstdev(middle) / math.sqrt(len(middle)), _CLOCK_SECONDS)
        return max(1, min(_MOST_FIGURES, math.floor(math.log10(self.median / half_width))))

    @property
    def has_warnings(self) -> bool:
        """Is the spread so large, or the count so small, that the median should not be trusted?"""
        return bool(self._warning())

    def _warning(self) -> str:
        if len(self.times) < _ENOUGH_TIMES:
            return ""
        share = self.iqr / self.median if self.median else 0.0
        for limit, words in _NOISE:
            if share > limit:
                return (
                    f"  WARNING: Interquartile range is {share * 100:.1f}% of the median "
                    f"measurement.\n           {words}"
                )
        return ""

    def meets_confidence(self, threshold: float = 0.05) -> bool:
        """Are there at least four times, with an interquartile range below `threshold` of the median?"""
        return len(self.times) >= _ENOUGH_TIMES and self.iqr / self.median < threshold

    @property
    def title(self) -> str:
        """The task's title."""
        return self.task_spec.title

    @property
    def env(self) -> str:
        """The environment's name; "Unspecified env" without one."""
        return self.task_spec.env or "Unspecified env"

    @property
    def as_row_name(self) -> str:
        """What names this measurement's row in a Compare table."""
        return self.task_spec.sub_label or self.task_spec.stmt or "[Unknown]"

    def __repr__(self) -> str:
        lines = [self.task_spec.summarize()]
        if len(self.times) > 1:
            low, high = quantile(self._sorted, 0.25), quantile(self._sorted, 0.75)
            lines.append(f"  Median: {spelled_time(self.median)}")
            lines.append(
                f"  IQR:    {spelled_time(self.iqr)} ({spelled_time(low)} to {spelled_time(high)})"
            )
        elif self.times:
            lines.append(f"  {spelled_time(self.median)}")
        lines.append(f"  {self._counts()}")
        return "\n".join(filter(None, [*lines, self._warning()]))

    def _counts(self) -> str:
        n, threads = len(self.times), self.task_spec.num_threads
        measured = f"{n} measurement{'s' * (n != 1)}"
        runs = f"{self.number_per_run} run{'s' * (self.number_per_run != 1)} per measurement"
        return f"{measured}, {runs}, {threads} thread{'s' * (threads != 1)}"

    @staticmethod
    def merge(measurements: Iterable[Measurement]) -> list[Measurement]:
        """One measurement for each distinct task, holding the times of all its replicates.

        Times are those of single runs (`number_per_run` is 1); metadata, which may differ, is dropped.
        """
        grouped: dict[TaskSpec, list[float]] = {}
        for one in measurements:
            grouped.setdefault(one.task_spec, []).extend(one.times)
        return [Measurement(1, times, spec) for spec, times in grouped.items()]


def quantile(ordered: list[float], share: float) -> float:
    """The value below which `share` of the sorted list lies, between neighbours linearly; nan if it is empty.

    >>> quantile([1.0, 2.0, 4.0], 0.75)
    3.0
    """
    if not ordered:
        return math.nan
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def ordered_unique(elements: Iterable[Any]) -> list[Any]:
    """Each element once, in the order of first appearance.

    >>> ordered_unique("abca")
    ['a', 'b', 'c']
    """
    return list(dict.fromkeys(elements))
