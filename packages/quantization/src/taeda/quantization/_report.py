"""What `quantize_` did: a row for each linear layer."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Report", "Row"]


@dataclass(frozen=True)
class Row:
    """A linear layer, as it was and as it is."""

    #: its name in the model, and those of the layers that share its weight
    layer: str
    #: "int8" or "int4"; "float": it stayed as it was
    kind: str
    #: of the weight, in bytes; after: with scales and offsets
    bytes_before: int
    bytes_after: int
    #: root mean square of the differences in the output for normal inputs, over that of the output
    error: float | None = None
    #: milliseconds for one row of input, as it was and packed: medians of calls in turns
    ms_before: float | None = None
    ms_after: float | None = None
    #: why it stayed float, or what else is worth knowing
    note: str = ""


@dataclass(frozen=True)
class Report:
    """What `quantize_` returns; `str()` is a table."""

    rows: tuple[Row, ...]
    #: parameters and buffers of the whole model, each memory once
    bytes_before: int
    bytes_after: int

    @property
    def quantized(self) -> tuple[Row, ...]:
        """The rows of layers that changed."""
        return tuple(row for row in self.rows if row.kind != "float")

    def __str__(self) -> str:
        cells = [
            ("layer", "kind", "bytes", "after", "error", "ms", "after", ""),
            *map(_cells, self.rows),
        ]
        widths = [max(len(line[i]) for line in cells) for i in range(len(cells[0]))]
        lines = ["  ".join(map(_aligned, line, widths, range(8))).rstrip() for line in cells]
        share = self.bytes_after / self.bytes_before if self.bytes_before else 1.0
        last = f"model: {self.bytes_before:,} bytes, after {self.bytes_after:,} ({share:.2f})"
        return "\n".join([*lines, last])


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


def _aligned(cell: str, width: int, column: int) -> str:
    return cell.rjust(width) if 2 <= column <= 6 else cell.ljust(width)
