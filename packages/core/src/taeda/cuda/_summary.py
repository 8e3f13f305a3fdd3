"""The allocator's statistics as a table for people."""

from __future__ import annotations

from typing import Any

from ._devices import ordinal_of
from ._memory import memory_stats

__all__ = ["memory_summary"]

_BYTES = (
    ("Allocated memory", "allocated_bytes"),
    ("Active memory", "active_bytes"),
    ("Requested memory", "requested_bytes"),
    ("GPU reserved memory", "reserved_bytes"),
    ("Non-releasable memory", "inactive_split_bytes"),
)
_COUNTS = (
    ("Allocations", "allocation"),
    ("Active allocs", "active"),
    ("GPU reserved segments", "segment"),
    ("Non-releasable allocs", "inactive_split"),
)
_COLUMNS = ("current", "peak", "allocated", "freed")
_LINE = "|" + "=" * 75 + "|"


def _size(value: int) -> str:
    for unit in ("B  ", "KiB", "MiB", "GiB"):
        if abs(value) < 10240 or unit == "GiB":
            break
        value //= 1024
    return f"{value:7d} {unit}"


def _count(value: int) -> str:
    return f"{value:7d}    "


def _row(name: str, cells: list[str]) -> str:
    return f"| {name:<21} | " + " | ".join(cells) + " |"


def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    """A table of what tensors use and what the allocator holds, now, at most and in sum. With
    `abbreviated` without the parts of small and of large blocks.

    Args:
        device: a device or its number; None is the current one.
        abbreviated: whether the parts of small and of large blocks are left out (False).

    >>> text = taeda.cuda.memory_summary(abbreviated=True)
    >>> text == "No CUDA device was used yet." or "Allocated memory" in text
    True
    """
    stats = memory_stats(device)
    if not stats:
        return "No CUDA device was used yet."
    pools = (
        [("all", "")]
        if abbreviated
        else [("all", ""), ("large_pool", "  large"), ("small_pool", "  small")]
    )
    lines = [
        _LINE,
        f"| {f'CUDA memory of taeda, device {ordinal_of(device)}':^73} |",
        (
            f"| {'out of memory: ' + str(stats['num_ooms']):^35} | "
            f"{'retries: ' + str(stats['num_alloc_retries']):^35} |"
        ),
        _LINE,
        _row("", [f"{name:^11}" for name in ("now", "peak", "allocated", "freed")]),
    ]
    for rows, text in ((_BYTES, _size), (_COUNTS, _count)):
        lines.append(_LINE)
        for name, key in rows:
            for pool, part in pools:
                values = [text(stats[f"{key}.{pool}.{column}"]) for column in _COLUMNS]
                lines.append(_row(part or name, values))
    return "\n".join([*lines, _LINE, ""])
