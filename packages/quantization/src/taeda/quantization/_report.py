"""What `quantize_` did: a row for each linear layer."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass

__all__ = ["Report", "Row", "table"]


@dataclass(frozen=True)
class Row:
    """A linear layer, as it was and as it is.

    Args:
        layer: its name in the model, and those of the layers that share its weight.
        kind: "int8" or "int4"; "float": it stayed as it was.
        bytes_before, bytes_after: of the weight; after: with scales and offsets.
        error: root mean square of the differences in the output for normal inputs, over that of the output;
            None if it was not packed.
        ms_before, ms_after: milliseconds for one row of input, as it was and packed: medians of calls in
            turns; None if they were not measured.
        note: why it stayed float, or what else is worth knowing (default: "").

    >>> row = Row("fc", "int8", 16384, 4224, error=0.004)
    >>> row.bytes_after / row.bytes_before < 0.26
    True
    """

    layer: str
    kind: str
    bytes_before: int
    bytes_after: int
    error: float | None = None
    ms_before: float | None = None
    ms_after: float | None = None
    note: str = ""


@dataclass(frozen=True)
class Report:
    """What `quantize_` returns; `str()` is a table.

    Args:
        rows: a row for each linear layer.
        bytes_before, bytes_after: parameters and buffers of the whole model, each memory once.

    >>> rows = Row("fc", "int8", 16384, 4224), Row("head", "float", 256, 256, note="filter_fn")
    >>> report = Report(rows, 16640, 4480)
    >>> [row.layer for row in report.quantized]
    ['fc']
    """

    rows: tuple[Row, ...]
    bytes_before: int
    bytes_after: int

    @property
    def quantized(self) -> tuple[Row, ...]:
        """The rows of layers that changed."""
        return tuple(row for row in self.rows if row.kind != "float")

    def __str__(self) -> str:
        head = ("layer", "kind", "bytes", "after", "error", "ms", "after", "")
        share = self.bytes_after / self.bytes_before if self.bytes_before else 1.0
        last = f"model: {self.bytes_before:,} bytes, after {self.bytes_after:,} ({share:.2f})"
        return "\n".join([*table([head, *map(_cells, self.rows)], range(2, 7)), last])


def table(cells: Sequence[Sequence[str]], numbers: Container[int]) -> list[str]:
    """Lines of cells below each other; columns of `numbers` stand to the right."""
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = []
    for line in cells:
        each = enumerate(zip(line, widths, strict=True))
        parts = (cell.rjust(w) if at in numbers else cell.ljust(w) for at, (cell, w) in each)
        lines.append("  ".join(parts).rstrip())
    return lines


def _cells(row: Row) -> tuple[str, ...]:
    error = "" if row.error is None else f"{row.error:.1e}"
    times = ("" if t is None else f"{t:.3f}" for t in (row.ms_before, row.ms_after))
    return (
        row.layer,
        row.kind,
        f"{row.bytes_before:,}",
        f"{row.bytes_after:,}",
        error,
        *times,
        row.note,
    )
