"""Statistics over windows of time, an event for each."""

from __future__ import annotations

import datetime as dt
import enum
import threading
import time
from collections.abc import Iterable

from ._events import Event, log_event

__all__ = ["Aggregation", "Stat"]


class Aggregation(enum.Enum):
    """What a statistic says of the values of a window.

    >>> [kind.name for kind in Aggregation]
    ['VALUE', 'MEAN', 'COUNT', 'SUM', 'MAX', 'MIN']
    """

    VALUE = 0
    MEAN = 1
    COUNT = 2
    SUM = 3
    MAX = 4
    MIN = 5

    # found on the class too, as documented
    name = property(lambda self: self._name_, doc="Its name.")


class Stat:
    """Counts values, and logs an event `taeda.monitor.Stat` once for each window of `window_size`.

    The event's data are named `NAME.mean` and so on. A window is closed by the first add after it,
    or when the object goes. Times have milliseconds. Values after the first `max_samples` of a window
    are discarded. A window without values logs nothing.

    TypeError for arguments of another type, ValueError for a window that is not longer than 0.

    Args:
        name: what its data's names begin with
        aggregations: what is said of each window: an iterable of Aggregation
        window_size: the length of a window, a timedelta of a millisecond or more
        max_samples: how many values of a window are counted, at least 1 (default:
            9223372036854775807, the largest int64)

    >>> from datetime import timedelta
    >>> from taeda import monitor
    >>> stat = monitor.Stat("seconds", [monitor.Aggregation.SUM], timedelta(hours=1))
    >>> stat.add(2.0)
    >>> stat.add(3.0)
    >>> stat.count
    2
    """

    _last: float
    _sum: float
    _most_seen: float
    _least_seen: float

    def __init__(
        self,
        name: str,
        aggregations: Iterable[Aggregation],
        window_size: dt.timedelta,
        max_samples: int = 2**63 - 1,
    ) -> None:
        self._count = 0  # `__del__` asks, whatever is refused below
        chosen = list(aggregations)
        if not isinstance(name, str):
            raise TypeError(f"Stat: name is {type(name).__name__}, and has to be a text")
        for one in chosen:
            if not isinstance(one, Aggregation):
                raise TypeError(f"Stat: aggregations holds {one!r}, which is no Aggregation")
        if not isinstance(window_size, dt.timedelta):
            raise TypeError(
                f"Stat: window_size is {type(window_size).__name__}, and has to be a timedelta"
            )
        self._window = window_size // dt.timedelta(milliseconds=1)
        if self._window <= 0:
            raise ValueError(
                f"Stat: window_size is {window_size}, and has to be a millisecond or more"
            )
        if max_samples < 1:
            raise ValueError(f"Stat: max_samples is {max_samples}, and has to be 1 or more")
        self._name, self._most = name, max_samples
        self._aggregations = tuple(dict.fromkeys(chosen))
        self._lock = threading.RLock()  # a handler may add to the statistic that it hears of
        self._began = _now()
        self._sum: float
        self._most_seen: float
        self._least_seen: float
        self._forget()

    @property
    def name(self) -> str:
        """Its name."""
        return self._name

    @property
    def count(self) -> int:
        """How many values this window has."""
        return self._count

    def add(self, v: float) -> None:
        """Count a value. What handlers raise passes, and the value is counted.

        Args:
            v: the value, a number
        """
        value = float(v)
        with self._lock:
            closed = self._close() if _now() - self._began >= self._window else None
            if self._count < self._most:
                self._take(value)
        if closed is not None:
            log_event(closed)

    def get(self) -> dict[Aggregation, float]:
        """What the window says so far; zeros while it has no values."""
        with self._lock:
            known = {
                Aggregation.VALUE: self._last,
                Aggregation.MEAN: self._sum / self._count if self._count else 0.0,
                Aggregation.COUNT: float(self._count),
                Aggregation.SUM: self._sum,
                Aggregation.MAX: self._most_seen,
                Aggregation.MIN: self._least_seen,
            }
        return {one: known[one] for one in self._aggregations}

    def _take(self, value: float) -> None:
        first = self._count == 0
        self._count += 1
        self._last, self._sum = value, self._sum + value
        self._most_seen = value if first else max(self._most_seen, value)
        self._least_seen = value if first else min(self._least_seen, value)

    def _forget(self) -> None:
        self._count = 0
        self._last = self._sum = self._most_seen = self._least_seen = 0.0

    def _close(self) -> Event | None:
        """The event of the window, and a new window."""
        had, found = self._count, self.get()
        self._forget()
        now = _now()
        self._began = now - (now - self._began) % self._window
        if not had:
            return None
        data = {f"{self._name}.{one.name.lower()}": value for one, value in found.items()}
        return Event("taeda.monitor.Stat", dt.datetime.now(), data)

    def __del__(self) -> None:
        if self._count and (closed := self._close()) is not None:
            log_event(closed)


def _now() -> int:
    """Milliseconds."""
    return time.monotonic_ns() // 1_000_000
