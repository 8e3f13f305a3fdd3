"""The events of a profile under their older name: `taeda.profiler` makes them. Comes with taeda-profiler."""

from __future__ import annotations

from taeda.profiler._events import (  # upward: MissingDistribution says what to install
    DeviceType,
    EventList,
    FunctionEvent,
    FunctionEventAvg,
    Interval,
    Kernel,
    MemRecordsAcc,
    StringTable,
)

__all__ = [
    "DeviceType",
    "EventList",
    "FunctionEvent",
    "FunctionEventAvg",
    "Interval",
    "Kernel",
    "MemRecordsAcc",
    "StringTable",
]
