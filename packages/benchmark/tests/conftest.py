"""A clock that only moves when told to, so that tests of timing need no time."""

from __future__ import annotations

import pytest


class Clock:
    """Call it to read it; `work(seconds)` moves it on. Each reading costs `reading` seconds."""

    def __init__(self, reading: float = 0.0) -> None:
        self.now, self.reading, self.calls = 0.0, reading, 0

    def __call__(self) -> float:
        self.now += self.reading
        return self.now

    def work(self, seconds: float) -> None:
        self.now += seconds
        self.calls += 1


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def slow_clock():
    """Reading it costs a microsecond."""
    return Clock(reading=1e-6)
