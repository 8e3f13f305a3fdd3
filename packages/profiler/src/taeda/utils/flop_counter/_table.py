"""Counts as text."""

from __future__ import annotations

from typing import Any

__all__ = ["counts_as_text"]

UNITS = ("", "K", "M", "B", "T")


def counts_as_text(counts: dict[str, dict[Any, int]], depth: int) -> str:
    """One line a module to `depth`, and below it one an operator."""
    whole = sum(counts.get("Global", {}).values())
    size = min(max((len(str(whole)) - 1) // 3, 0), len(UNITS) - 1)
    rows = [("Module", "FLOP", "% Total")]
    for place in sorted(counts, key=lambda name: (name != "Global", name)):
        level = 0 if place == "Global" else place.count(".") + 1
        if level > depth:
            continue
        rows.append((" " * level + place, *_cells(sum(counts[place].values()), whole, size)))
        for op, count in sorted(counts[place].items(), key=lambda item: -item[1]):
            rows.append((" " * level + f" - {op}", *_cells(count, whole, size)))
    wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        f"{name:{wide[0]}}  {flop:>{wide[1]}}  {share:>{wide[2]}}" for name, flop, share in rows
    ]
    return "\n".join((lines[0], "  ".join("-" * width for width in wide), *lines[1:]))


def _cells(count: int, whole: int, size: int) -> tuple[str, str]:
    text = f"{count / 1000**size:.3f}{UNITS[size]}" if size else str(count)
    return text, f"{count / whole:.2%}" if whole else "0.00%"
