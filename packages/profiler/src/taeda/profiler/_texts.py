"""Times, memory and names of operations as text."""

from __future__ import annotations

__all__ = ["format_memory", "format_time", "operation"]


def operation(op: str) -> str:
    """The name of a row of the table, without its overload; one that is defined at run time has a
    namespace of its own.

    >>> operation("add.Tensor"), operation("mylib::scale")
    ('aten::add', 'mylib::scale')
    """
    name = op.partition(".")[0]
    return name if "::" in name else f"aten::{name}"


def format_time(us: float) -> str:
    """Microseconds as text: in us, ms or s.

    >>> format_time(1500)
    '1.500ms'
    """
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if us >= size:
            return f"{us / size:.3f}{unit}"
    return f"{us:.3f}us"


def format_memory(size: float) -> str:
    """Bytes as text.

    >>> format_memory(2048)
    '2.00 KB'
    """
    for unit, one in (("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10)):
        if abs(size) >= one:
            return f"{size / one:.2f} {unit}"
    return f"{int(size)} B"
