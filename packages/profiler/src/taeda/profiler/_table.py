"""Events as a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ._texts import format_memory, format_time

__all__ = ["table"]

SORTS = (
    *(
        "count",
        "cpu_time",
        "cpu_time_total",
        "self_cpu_time_total",
        "cpu_memory_usage",
        "self_cpu_memory_usage",
        "flops",
    ),
    *(
        "device_time",
        "device_time_total",
        "self_device_time_total",
        "device_memory_usage",
        "self_device_memory_usage",
    ),
    *(
        "cuda_time",
        "cuda_time_total",
        "self_cuda_time_total",
        "cuda_memory_usage",
        "self_cuda_memory_usage",
    ),
)
UNITS = {"s": 1e6, "ms": 1e3, "us": 1.0}


def table(
    events: Sequence[Any],
    sort_by: str | None,
    row_limit: int,
    *,
    header: str | None,
    unit: str | None,
    memory: bool,
    flops: bool,
    widths: tuple[int, int, int],
    total: float,
) -> str:
    """One line an event, `total` microseconds being all."""
    if sort_by is not None:
        if sort_by not in SORTS:
            raise ValueError(f"table: sort_by is {sort_by!r}, and can be one of {', '.join(SORTS)}")
        events = sorted(events, key=lambda event: getattr(event, sort_by), reverse=True)
    columns = _columns(events, unit, memory, flops, widths, total)
    rows = [
        [text(event) for _, text in columns]
        for event in events[: None if row_limit < 0 else row_limit]
    ]
    lines = _layout([title for title, _ in columns], rows)
    if header is not None:
        lines = ["=" * len(lines[0]), header, *lines]
    return "\n".join((*lines, f"Self CPU time total: {_time(total, unit)}", ""))


def _columns(
    events: Sequence[Any],
    unit: str | None,
    memory: bool,
    flops: bool,
    widths: tuple[int, int, int],
    total: float,
) -> list[tuple[str, Callable[[Any], str]]]:
    whole = total or 1.0
    name, shapes, source = widths
    columns: list[tuple[str, Callable[[Any], str]]] = [
        ("Name", lambda e: _cut(e.key, name)),
        ("Self CPU %", lambda e: f"{e.self_cpu_time_total / whole:.2%}"),
        ("Self CPU", lambda e: _time(e.self_cpu_time_total, unit)),
        ("CPU total %", lambda e: f"{e.cpu_time_total / whole:.2%}"),
        ("CPU total", lambda e: _time(e.cpu_time_total, unit)),
        ("CPU time avg", lambda e: _time(e.cpu_time, unit)),
    ]
    if memory:
        columns += [
            ("CPU Mem", lambda e: format_memory(e.cpu_memory_usage)),
            ("Self CPU Mem", lambda e: format_memory(e.self_cpu_memory_usage)),
        ]
    columns.append(("# of Calls", lambda e: str(e.count)))
    if any(e.overload_name for e in events):
        columns.insert(1, ("Overload Name", lambda e: e.overload_name))
    if any(e.input_shapes for e in events):
        columns.append(("Input Shapes", lambda e: _cut(str(e.input_shapes or []), shapes)))
    if any(e.stack for e in events):
        columns.append(
            ("Source Location", lambda e: _cut(e.stack[0] if e.stack else "", source, end=True))
        )
    if flops:
        columns.append(("Total MFLOPs", lambda e: f"{e.flops / 1e6:.3f}" if e.flops else "--"))
    return columns


def _time(us: float, unit: str | None) -> str:
    if unit is None:
        return format_time(us)
    if unit not in UNITS:
        raise ValueError(f"table: time_unit is {unit!r}, and can be one of {', '.join(UNITS)}")
    return f"{us / UNITS[unit]:.3f}{unit}"


def _cut(text: str, width: int, end: bool = False) -> str:
    """At most `width` letters; what is cut off is replaced by dots. A width below 1 is none."""
    if width < 1 or len(text) <= width:
        return text
    return "..." + text[3 - width :] if end else text[: width - 3] + "..."


def _layout(titles: list[str], rows: list[list[str]]) -> list[str]:
    wide = [max(map(len, column)) for column in zip(titles, *rows, strict=True)]
    rule = "  ".join("-" * width for width in wide)
    lines = [
        "  ".join(text.rjust(width) for text, width in zip(row, wide, strict=True))
        for row in (titles, *rows)
    ]
    return [rule, lines[0], rule, *lines[1:], rule]
