"""Traces of the profiler nvprof, which wrote databases of SQLite: the ranges that a program marked
with `emit_nvtx`, and the kernels that ran on their behalf.

The tables are those that CUPTI's documentation of activity records describes.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator

from ._events import EventList, FunctionEvent, Kernel
from ._recording import Range

__all__ = ["load_nvprof", "parse_nvprof_trace"]

_LAUNCHES = (211, 13)  # cudaLaunchKernel, cudaLaunch


def load_nvprof(path: str | os.PathLike[str]) -> EventList:
    """The events of a trace of nvprof. FileNotFoundError if there is none, ValueError if the file is
    no such trace.

    >>> load_nvprof("missing.nvvp")
    Traceback (most recent call last):
    FileNotFoundError: load_nvprof: there is no file missing.nvvp
    """
    return EventList(parse_nvprof_trace(path))


def parse_nvprof_trace(path: str | os.PathLike[str]) -> list[FunctionEvent]:
    """As `load_nvprof`, as a plain list in the order in which the events began.

    >>> parse_nvprof_trace("missing.nvvp")
    Traceback (most recent call last):
    FileNotFoundError: load_nvprof: there is no file missing.nvvp
    """
    name = os.fspath(path)
    if not os.path.exists(name):
        raise FileNotFoundError(f"load_nvprof: there is no file {name}")
    with contextlib.closing(sqlite3.connect(f"file:{name}?mode=ro", uri=True)) as base:
        try:
            return _events(base)
        except sqlite3.DatabaseError as error:
            raise ValueError(f"load_nvprof: {name} is no trace of nvprof: {error}") from error


def _events(base: sqlite3.Connection) -> list[FunctionEvent]:
    marked = list(_marked(base))
    origin = min((one.start for _, one in marked), default=0)
    made = {number: FunctionEvent(one, number, origin) for number, one in marked}
    for number, kernel in _kernels(base):
        if number in made:
            made[number].kernels.append(kernel)
    return sorted(made.values(), key=lambda event: event.time_range.start)


def _marked(base: sqlite3.Connection) -> Iterator[tuple[int, Range]]:
    """Ranges by their marker: a start and an end share an identifier."""
    rows = base.execute(
        "SELECT first.id, text.value, first.timestamp, last.timestamp"
        " FROM CUPTI_ACTIVITY_KIND_MARKER AS first"
        " JOIN StringTable AS text ON first.name = text._id_"
        " JOIN CUPTI_ACTIVITY_KIND_MARKER AS last ON first.id = last.id"
        " WHERE first.name != 0 AND last.name = 0"
    )
    for number, name, start, end in rows:
        one = Range(name, "", "user_annotation", None)
        one.start, one.end, one.thread = start, end, 0
        yield number, one


def _kernels(base: sqlite3.Connection) -> Iterator[tuple[int, Kernel]]:
    """Kernels with the innermost marker around their launch."""
    rows = base.execute(
        "SELECT marker.id, text.value, kernel.deviceId, kernel.start, kernel.end"
        " FROM CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL AS kernel"
        " JOIN StringTable AS text ON kernel.name = text._id_"
        " JOIN CUPTI_ACTIVITY_KIND_RUNTIME AS launch ON launch.correlationId = kernel.correlationId"
        " JOIN CUPTI_ACTIVITY_KIND_MARKER AS marker ON marker.name != 0"
        " AND marker.timestamp = (SELECT MAX(begun.timestamp) FROM CUPTI_ACTIVITY_KIND_MARKER AS begun"
        "  JOIN CUPTI_ACTIVITY_KIND_MARKER AS ended ON begun.id = ended.id"
        "  WHERE begun.name != 0 AND ended.name = 0"
        "  AND begun.timestamp <= launch.start AND ended.timestamp >= launch.end)"
        f" WHERE launch.cbid IN {_LAUNCHES}"
    )
    for number, name, device, start, end in rows:
        yield number, Kernel(name, device, (end - start) / 1e3)
