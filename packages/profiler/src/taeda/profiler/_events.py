"""The events of a profile, and sums of them.

Times are microseconds, memory is bytes: what an operation took minus what it gave back while it
ran. "Self" is without what ran within it. There are no devices beside the processor, so times and
memory of devices are 0.
"""

from __future__ import annotations

import enum
from collections import defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple

from ._recording import Range
from ._table import table
from ._texts import format_time

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


class DeviceType(enum.Enum):
    """Where an event ran.

    >>> DeviceType.CPU.name
    'CPU'
    """

    CPU = 0


class Interval:
    """A piece of time, in microseconds since the profile began.

    >>> Interval(2.0, 5.5).elapsed_us()
    3.5
    """

    def __init__(self, start: float, end: float) -> None:
        self.start, self.end = start, end

    def elapsed_us(self) -> float:
        """How long it is."""
        return self.end - self.start


class Kernel(NamedTuple):
    """Work of a device on behalf of an event; none is recorded here.

    >>> Kernel("add", device=0, duration=2.5).duration
    2.5
    """

    name: str
    device: int
    duration: float


class StringTable(defaultdict[str, str]):
    """Names by themselves: one that is asked for is there.

    >>> StringTable()["aten::add"]
    'aten::add'
    """

    def __missing__(self, key: str) -> str:
        self[key] = key
        return key


class MemRecordsAcc:
    """Records with a `start_ns`, found by intervals of microseconds.

    >>> from types import SimpleNamespace
    >>> records = [(SimpleNamespace(start_ns=lambda at=at: at),) for at in (1000, 9000)]
    >>> [record.start_ns() for (record,) in MemRecordsAcc(records).in_interval(0, 5)]
    [1000]
    """

    def __init__(self, mem_records: Iterable[Any]) -> None:
        self._records = sorted(mem_records, key=lambda record: record[0].start_ns())

    def in_interval(self, start_us: float, end_us: float) -> Iterable[Any]:
        """The records that begin within."""
        for record in self._records:
            if start_us * 1e3 <= record[0].start_ns() <= end_us * 1e3:
                yield record


class _Times:
    """What single events and sums of them share; `count` of them took `cpu_time_total`."""

    count: int
    cpu_time_total: float
    self_cpu_time_total: float
    device_type = DeviceType.CPU
    use_device: str | None = None
    node_id, is_async, is_remote, is_legacy = -1, False, False, False
    device_time_total = self_device_time_total = cuda_time_total = self_cuda_time_total = 0.0
    device_memory_usage = self_device_memory_usage = cuda_memory_usage = self_cuda_memory_usage = 0
    device_time = cuda_time = 0.0

    @property
    def cpu_time(self) -> float:
        """The mean."""
        return self.cpu_time_total / self.count if self.count else 0.0

    def __getattr__(self, name: str) -> str:
        if name.endswith("_str") and not name.startswith("_"):
            return format_time(getattr(self, name.removesuffix("_str")))
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


class FunctionEvent(_Times):
    """One operation, or one named range of the program.

    >>> import taeda
    >>> from taeda.autograd.profiler import profile
    >>> with profile() as p:
    ...     _ = taeda.ones(2).exp()
    >>> [event.name for event in p.function_events]
    ['aten::ones', 'aten::exp']
    """

    def __init__(self, noted: Range, number: int, origin: int) -> None:
        self.id, self.name, self.overload_name, self.count = number, noted.name, noted.overload, 1
        self.thread, self.scope, self.sequence_nr, self.device_index = noted.thread, 0, -1, 0
        self.time_range = Interval((noted.start - origin) / 1e3, (noted.end - origin) / 1e3)
        self.input_shapes, self.stack, self.flops = (
            (noted.shapes or []),
            (noted.stack or []),
            noted.flops,
        )
        self.is_user_annotation = noted.kind == "user_annotation"
        self.kind, self.text = noted.kind, noted.text
        self.cpu_parent: FunctionEvent | None = None
        self.cpu_children: list[FunctionEvent] = []
        self.kernels: list[Kernel] = []
        self.cpu_memory_usage = noted.memory

    @property
    def key(self) -> str:
        return self.name

    trace_name = key

    @property
    def cpu_time_total(self) -> float:  # type: ignore[override]  # the base only says that there is one
        return self.time_range.elapsed_us()

    @property
    def self_cpu_time_total(self) -> float:  # type: ignore[override]  # the base only says that there is one
        return self.cpu_time_total - sum(child.cpu_time_total for child in self.cpu_children)

    @property
    def self_cpu_memory_usage(self) -> int:
        return self.cpu_memory_usage - sum(c.cpu_memory_usage for c in self.cpu_children)

    def __repr__(self) -> str:
        return (
            f"<FunctionEvent id={self.id} name={self.name} cpu_time={self.cpu_time_str} "
            f"start_us={self.time_range.start:.3f} end_us={self.time_range.end:.3f} "
            f"cpu_children={[child.id for child in self.cpu_children]} thread={self.thread} "
            f"input_shapes={self.input_shapes} "
            f"cpu_memory_usage={self.cpu_memory_usage}>"
        )


class FunctionEventAvg(_Times):
    """The sum of events of one key.

    >>> import taeda
    >>> from taeda.autograd.profiler import profile
    >>> x = taeda.ones(2)
    >>> with profile() as p:
    ...     _ = x.exp(), x.exp()
    >>> [(sum.key, sum.count) for sum in p.key_averages()]
    [('aten::exp', 2)]
    """

    def __init__(self, key: str = "Total") -> None:
        self.key, self.overload_name, self.count = key, "", 0
        self.cpu_time_total = self.self_cpu_time_total = 0.0
        self.cpu_memory_usage = self.self_cpu_memory_usage = self.flops = 0
        self.input_shapes: Any = ""
        self.stack: list[str] = []
        self.cpu_parent: FunctionEvent | None = None
        self.cpu_children: list[FunctionEvent] = []
        self.is_user_annotation = False

    def add(self, other: FunctionEvent | FunctionEventAvg) -> FunctionEventAvg:
        """Count another one in."""
        self.count += other.count
        self.cpu_time_total += other.cpu_time_total
        self.self_cpu_time_total += other.self_cpu_time_total
        self.cpu_memory_usage += other.cpu_memory_usage
        self.self_cpu_memory_usage += other.self_cpu_memory_usage
        self.flops += other.flops
        self.is_user_annotation = self.is_user_annotation or other.is_user_annotation
        return self

    __iadd__ = add

    def __repr__(self) -> str:
        return (
            f"<FunctionEventAvg key={self.key} count={self.count} "
            f"self_cpu_time={self.self_cpu_time_total_str} "
            f"cpu_time={self.cpu_time_str} input_shapes={self.input_shapes} "
            f"cpu_memory_usage={self.cpu_memory_usage}>"
        )


class EventList(list[Any]):
    """Events in the order in which they began, or sums of them.

    >>> import taeda
    >>> from taeda.autograd.profiler import profile
    >>> with profile() as p:
    ...     _ = taeda.ones(2).exp()
    >>> type(p.function_events).__name__, len(p.function_events)
    ('EventList', 2)
    """

    def __init__(
        self, events: Iterable[Any] = (), *, memory: bool = False, flops: bool = False
    ) -> None:
        super().__init__(events)
        self._memory, self._flops = memory, flops

    @classmethod
    def of(cls, noted: list[Range], origin: int, *, memory: bool, flops: bool) -> EventList:
        """The events of what a collector noted."""
        made = {id(one): FunctionEvent(one, number, origin) for number, one in enumerate(noted)}
        for one in noted:
            event = made[id(one)]
            event.cpu_parent = made.get(id(one.parent))
            event.cpu_children = [
                made[id(child)] for child in one.children or () if id(child) in made
            ]
        return cls(made.values(), memory=memory, flops=flops)

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds of all events, each counted once."""
        return sum(event.self_cpu_time_total for event in self)

    def key_averages(
        self,
        group_by_input_shapes: bool = False,
        group_by_stack_n: int = 0,
        group_by_overload_name: bool = False,
    ) -> EventList:
        """Sums by name; apart for each list of shapes, for the innermost `group_by_stack_n` places,
        for each overload.
        """
        sums: dict[Any, FunctionEventAvg] = defaultdict(FunctionEventAvg)
        for event in self:
            shapes = str(event.input_shapes) if group_by_input_shapes else ""
            places = tuple(event.stack[:group_by_stack_n])
            overload = event.overload_name if group_by_overload_name else ""
            total = sums[event.key, shapes, places, overload].add(event)
            total.key, total.overload_name, total.stack = event.key, overload, list(places)
            total.input_shapes = event.input_shapes if group_by_input_shapes else ""
        return EventList(sums.values(), memory=self._memory, flops=self._flops)

    def total_average(self) -> FunctionEventAvg:
        """The sum of all events."""
        total = FunctionEventAvg()
        for event in self:
            total.add(event)
        return total

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_src_column_width: int = 75,
        max_name_column_width: int = 55,
        max_shapes_column_width: int = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
        time_unit: str | None = None,
    ) -> str:
        """The events as a table. `sort_by` is one of count, cpu_time, cpu_time_total,
        self_cpu_time_total, cpu_memory_usage, self_cpu_memory_usage, flops (and the same of
        devices, which are 0); ValueError for another one. `row_limit` -1 shows all. `time_unit` is
        "s", "ms" or "us"; without it each number has its own.
        """
        chosen = [e for e in self if not top_level_events_only or e.cpu_parent is None]
        return table(
            chosen,
            sort_by,
            row_limit,
            header=header,
            unit=time_unit,
            memory=self._memory,
            flops=self._flops,
            widths=(max_name_column_width, max_shapes_column_width, max_src_column_width),
            total=self.self_cpu_time_total,
        )

    def export_chrome_trace(self, path: str) -> None:
        """Write the events to a file that chrome://tracing and Perfetto read; gzip where the name
        ends in .gz.
        """
        from ._trace import write_trace

        write_trace(path, self, {})

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Write lines `outermost;...;innermost number` for a flame graph: whole microseconds of
        `metric` for each stack.
        """
        from ._trace import write_stacks

        write_stacks(path, self, metric)

    def __str__(self) -> str:
        return self.table()
