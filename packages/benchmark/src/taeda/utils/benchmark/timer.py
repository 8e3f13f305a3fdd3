"""Timing of a statement, in replicates."""

from __future__ import annotations

import enum
import textwrap
import timeit
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import taeda

from .measurement import Measurement, TaskSpec, quantile

if TYPE_CHECKING:
    from .callgrind import CallgrindStats

__all__ = ["Language", "Timer", "timer"]

# Reading the clock may cost this share of a block.
_CLOCK_SHARE = 1e-3
_MOST_RUNS = 2**31 - 1

timer = timeit.default_timer


class Language(enum.Enum):
    """The language of a statement.

    >>> Language.CPP.name
    'CPP'
    """

    PYTHON = 0
    CPP = 1


class Timer:
    """Times `stmt` after running `setup` once. Both are source text, which may be indented as a whole.

    `taeda` is known to both, and so is what `globals` holds. Every measurement warms up first, runs with
    `num_threads` threads and restores their number afterwards, even if the statement raises. `label`,
    `sub_label`, `description` and `env` name the result in its repr and in a `Compare` table: rows are
    sub-labels, columns descriptions. `language="c++"` compiles `stmt` with the extension toolkit
    (taeda-cpp-extension); `global_setup` then stands outside of any function.

    ValueError if `stmt` is not text or `language` unknown, TypeError if `setup` is not text.

    >>> m = Timer("x + 1", "x = taeda.ones(3)").timeit(100)
    >>> m.number_per_run, m.median > 0
    (100, True)
    """

    def __init__(
        self,
        stmt: str = "pass",
        setup: str = "pass",
        global_setup: str = "",
        timer: Callable[[], float] = timer,
        globals: dict[str, Any] | None = None,
        label: str | None = None,
        sub_label: str | None = None,
        description: str | None = None,
        env: str | None = None,
        num_threads: int = 1,
        language: Language | str = Language.PYTHON,
    ) -> None:
        if not isinstance(stmt, str):
            raise ValueError(
                f"stmt is source text, got {type(stmt).__name__}; pass a callable through globals: "
                'Timer("f()", globals={"f": f})'
            )
        if not isinstance(setup, str):
            raise TypeError(f"setup is source text, got {type(setup).__name__}")
        stmt, setup = textwrap.dedent(stmt).strip(), textwrap.dedent(setup).strip()
        self._language = _language(language)
        self._globals = {"taeda": taeda, **(globals or {})}
        self._inner = self._make(stmt, setup, global_setup, timer)
        self._task_spec = TaskSpec(
            stmt, setup, global_setup, label, sub_label, description, env, num_threads
        )

    def _make(self, stmt: str, setup: str, global_setup: str, timer: Callable[[], float]) -> Any:
        if self._language is Language.CPP:
            from ._cpp import CppTimer

            clock = None if timer is timeit.default_timer else timer
            return CppTimer(stmt, setup, textwrap.dedent(global_setup), clock)
        if global_setup:
            raise ValueError(
                f"global_setup is for C++ statements; a Python one takes `setup`, got {global_setup!r}"
            )
        # Values wrapped for another process are what they wrap in this one.
        plain = {
            name: getattr(value, "value", value) if _wrapped(value) else value
            for name, value in self._globals.items()
        }
        return timeit.Timer(stmt, setup, timer, plain)

    def timeit(self, number: int = 1_000_000) -> Measurement:
        """One measurement of `number` runs, after a warm-up of a hundredth of them (at least 2)."""
        with self._threads():
            self._inner.timeit(max(number // 100, 2))
            return self._measurement(number, [self._inner.timeit(number)])

    def blocked_autorange(
        self,
        callback: Callable[[int, float], Any] | None = None,
        min_run_time: float = 0.2,
    ) -> Measurement:
        """Measure blocks of runs until `min_run_time` seconds have been spent in them.

        A block is so long that reading the clock costs less than a thousandth of it.
        `callback(runs, seconds)` is told of each block.
        """
        with self._threads():
            number = self.block_size(min_run_time)
            return self._blocks(number, lambda times, total: total >= min_run_time, callback)

    def adaptive_autorange(
        self,
        threshold: float = 0.1,
        *,
        min_run_time: float = 0.01,
        max_run_time: float = 10.0,
        callback: Callable[[int, float], Any] | None = None,
    ) -> Measurement:
        """As `blocked_autorange`, until the interquartile range is below `threshold` of the median.

        That is tested once more than three blocks and `min_run_time` seconds are there; `max_run_time`
        seconds end the measurement in any case.
        """

        def done(times: list[float], total: float) -> bool:
            if total > max_run_time:
                return True
            if len(times) <= 3 or total <= min_run_time:
                return False
            ordered = sorted(times)
            spread = quantile(ordered, 0.75) - quantile(ordered, 0.25)
            return spread < threshold * quantile(ordered, 0.5)

        with self._threads():
            number = self.block_size(min_run_time)
            return self._blocks(number, done, callback)

    def collect_callgrind(
        self,
        number: int = 100,
        *,
        repeats: int | None = None,
        collect_baseline: bool = True,
        retain_out_file: bool = False,
    ) -> CallgrindStats | tuple[CallgrindStats, ...]:
        """Instructions of `number` runs, counted by Callgrind in a process of its own.

        One result, or a tuple of `repeats` results. The counts of an empty statement come with it unless
        `collect_baseline` is False. Counts hardly vary, so few runs are enough; the process is some fifty
        times slower than usual. OSError if valgrind is not installed, ValueError if a value of `globals`
        cannot be carried over (see `CopyIfCallgrind`) or the statement is not Python.
        """
        from .callgrind import collect

        if self._language is not Language.PYTHON:
            raise ValueError("collect_callgrind counts Python statements; this one is C++")
        given = {name: value for name, value in self._globals.items() if value is not taeda}
        found = collect(
            self._task_spec, given, number, repeats or 1, collect_baseline, retain_out_file
        )
        return found if repeats is not None else found[0]

    def block_size(self, min_run_time: float = 0.2) -> int:
        """How many runs make a block. Also the warm-up: what is lazy has happened by then."""
        clock = min(self._inner.timeit(0) for _ in range(5))
        number = 1
        while number * 10 <= _MOST_RUNS:
            seconds = self._inner.timeit(number)
            if clock <= _CLOCK_SHARE * seconds and seconds >= min_run_time / 1000:
                break
            if seconds > min_run_time:
                break
            number *= 10
        return number

    def _blocks(
        self,
        number: int,
        done: Callable[[list[float], float], bool],
        callback: Callable[[int, float], Any] | None,
    ) -> Measurement:
        times: list[float] = []
        total = 0.0
        while True:
            times.append(self._inner.timeit(number))
            total += times[-1]
            if callback is not None:
                callback(number, times[-1])
            if done(times, total):
                return self._measurement(number, times)

    @contextmanager
    def _threads(self) -> Iterator[None]:
        before = taeda.get_num_threads()
        taeda.set_num_threads(self._task_spec.num_threads)
        try:
            yield
        finally:
            taeda.set_num_threads(before)

    def _measurement(self, number: int, times: list[float]) -> Measurement:
        return Measurement(number, times, self._task_spec)

    def __repr__(self) -> str:
        return (
            f"Timer({self._task_spec.stmt!r}, {self._task_spec.setup!r}, "
            f"num_threads={self._task_spec.num_threads})"
        )


def _language(given: Language | str) -> Language:
    if isinstance(given, Language):
        return given
    names = {
        "py": Language.PYTHON,
        "python": Language.PYTHON,
        "c++": Language.CPP,
        "cpp": Language.CPP,
    }
    if given not in names:
        raise ValueError(f"language is one of {', '.join(names)}, got {given!r}")
    return names[given]


def _wrapped(value: Any) -> bool:
    from .callgrind import CopyIfCallgrind

    return isinstance(value, CopyIfCallgrind)
