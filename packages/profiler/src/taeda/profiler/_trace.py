"""Files of a profile: a trace for Chrome or Perfetto, stacks for a flame graph."""

from __future__ import annotations

import gzip
import json
import os
import socket
import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from taeda._core_api.files import atomic_write

if TYPE_CHECKING:
    from ._events import EventList

__all__ = ["tensorboard_trace_handler", "write_stacks", "write_trace"]


def write_trace(
    path: str | os.PathLike[str], events: EventList, metadata: Mapping[str, Any]
) -> None:
    """Write events, and facts about them, as JSON; compressed where the name ends in .gz.
    The file is whole or not there.
    """
    name = os.fspath(path)
    text = json.dumps({
        "schemaVersion": 1, "displayTimeUnit": "ms", "traceName": name, **metadata,
        "traceEvents": [_entry(e) for e in events],
    })  # fmt: skip
    data = text.encode()
    if name.endswith(".gz"):
        data = gzip.compress(data, mtime=0)
    with atomic_write(name) as file:
        file.write(data)


def _entry(event: Any) -> dict[str, Any]:
    noted = {
        "Input "
        "Dims": event.input_shapes, "Overload": event.overload_name, "Args": event.text, "Flops": event.flops,
        "Memory": event.cpu_memory_usage, "Call stack": ";".join(event.stack),
    }  # fmt: skip
    return {
        "ph": "X", "cat": event.kind, "name": event.name, "pid": os.getpid(), "tid": event.thread,
        "ts": event.time_range.start, "dur": event.cpu_time_total,
        "args": {k: v for k, v in noted.items() if v},
    }  # fmt: skip


def write_stacks(path: str | os.PathLike[str], events: EventList, metric: str) -> None:
    """Write the whole microseconds of `metric` for each stack, as flame graph programs read them."""
    known = ("self_cpu_time_total", "self_cuda_time_total", "self_xpu_time_total")
    if metric not in known:
        raise ValueError(
            f"export_stacks: metric is {metric!r}, and can be one of {', '.join(known)}"
        )
    sums: Counter[str] = Counter()
    for event in events:
        if event.stack:
            line = ";".join(place.translate(_SIGNS) for place in reversed(event.stack))
            sums[line] += int(getattr(event, metric, 0))
    with atomic_write(os.fspath(path)) as file:
        file.write("".join(f"{line} {us}\n" for line, us in sums.items() if us > 0).encode())


_SIGNS = str.maketrans(" ;\t\n", "____")


def tensorboard_trace_handler(
    dir_name: str, worker_name: str | None = None, use_gzip: bool = False
) -> Callable[[Any], None]:
    """For `on_trace_ready`: each cycle is written to `dir_name/WORKER.TIME.pt.trace.json`, `.gz` if asked.

    The worker's name is host and process unless given. RuntimeError if the folder cannot be made.

    Args:
        dir_name: the folder that files are written to; it is made
        worker_name: a name for the file; of host and process if None
        use_gzip: whether the file is compressed (default: False)

    >>> import os
    >>> from taeda import profiler
    >>> with profiler.profile(on_trace_ready=profiler.tensorboard_trace_handler("runs")):
    ...     _ = taeda.ones(2) + 1
    >>> [name.endswith(".pt.trace.json") for name in os.listdir("runs")]
    [True]
    """
    worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"

    def handler(prof: Any) -> None:
        try:
            os.makedirs(dir_name, exist_ok=True)
        except OSError as error:
            raise RuntimeError(
                f"tensorboard_trace_handler: the folder {dir_name} cannot be made: {error}"
            ) from error
        name = f"{worker}.{time.time_ns()}.pt.trace.json{'.gz' if use_gzip else ''}"
        prof.export_chrome_trace(os.path.join(dir_name, name))

    return handler
