"""A table of measurements."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import groupby

from ._units import select_unit, trim_sigfig, unit_to_english
from .measurement import Measurement, ordered_unique

__all__ = ["Compare"]

_BOLD, _END = "\033[1m", "\033[0m"
# From good to bad: within these multiples of the best. What is worse has the last colour.
_SHADES = (
    (1.1, "\033[92m"),
    (1.5, "\033[32m"),
    (3.0, ""),
    (10.0, "\033[33m"),
    (math.inf, "\033[91m"),
)


class Compare:
    """Measurements as a table: a row a sub-label (and label), a column a description, a block a
    number of threads.

    Replicates of a task are merged, but never across different `env`. `str()` gives the text.

    >>> from taeda.utils.benchmark import Measurement, TaskSpec
    >>> specs = [TaskSpec("f(x)", "", sub_label="f", description=f"n={n}", label="fs") for n in (1, 8)]
    >>> print(Compare([Measurement(1, [t], spec) for t, spec in zip([2e-6, 3e-6], specs)]))
    [------- fs -------]
             | n=1 | n=8
    1 thread:-----------
          f  | 2.0 | 3.0
    <BLANKLINE>
    Times are in microseconds (us).
    """

    def __init__(self, results: Iterable[Measurement]) -> None:
        self._results: list[Measurement] = []
        self._trim = self._warn = False
        self._colour: str | None = None
        self.extend_results(results)

    def extend_results(self, results: Iterable[Measurement]) -> None:
        """Add measurements. ValueError if anything else comes."""
        results = list(results)
        for one in results:
            if not isinstance(one, Measurement):
                raise ValueError(f"Compare takes Measurements, got {type(one).__name__}")
        self._results.extend(results)

    def trim_significant_figures(self) -> None:
        """Show only the figures that a measurement supports."""
        self._trim = True

    def colorize(self, rowwise: bool = False) -> None:
        """Colour times by their multiple of the best in the column, or in the row."""
        self._colour = "row" if rowwise else "column"

    def highlight_warnings(self) -> None:
        """Mark measurements whose spread is a large share of the median with the share."""
        self._warn = True

    def print(self) -> None:
        """Print the table."""
        print(str(self))

    def __str__(self) -> str:
        merged = Measurement.merge(self._results)
        labels = ordered_unique(one.label for one in merged)
        tables = [
            _Table(
                [one for one in merged if one.label == label], self._trim, self._colour, self._warn
            )
            for label in labels
        ]
        return "\n\n".join(map(str, tables))

    def __repr__(self) -> str:
        return f"Compare of {len(self._results)} measurements"


class _Table:
    """The measurements of one label, already merged."""

    def __init__(
        self, results: list[Measurement], trim: bool, colour: str | None, warn: bool
    ) -> None:
        self.results, self.trim, self.colour, self.warn = results, trim, colour, warn
        self.columns = ordered_unique(one.description for one in results)
        self.cells = {(_row_key(one), one.description): one for one in results}
        self.unit, self.scale = select_unit(min(one.median for one in results))

    def __str__(self) -> str:
        head = ["", *(column or "" for column in self.columns)]
        keys = sorted({_row_key(one): None for one in self.results}, key=lambda key: key[0])
        body = [[self._name(key), *self._texts(key)] for key in keys]
        widths = [max(map(len, column)) for column in zip(head, *body, strict=True)]
        lines = [self._line(head, widths)]
        for threads, group in groupby(keys, key=lambda key: key[0]):
            title = f"{threads} thread{'s' * (threads != 1)}:"
            lines.append(title + "-" * max(0, len(lines[0]) - len(title)))
            lines += [self._coloured(key, widths) for key in group]
        title = f" {self.results[0].label or ''} ".center(len(lines[0]) - 2, "-")
        end = f"\nTimes are in {unit_to_english(self.unit)}s ({self.unit})."
        marked = (
            "\n(! XX%) Measurement has high variance, where XX is the IQR / median * 100."
            if "(!" in str(body)
            else ""
        )
        return "\n".join([f"[{title}]", *lines, end]) + marked

    def _name(self, key: tuple[int, str, str]) -> str:
        return f"      {key[2]}" + (f" ({key[1]})" if key[1] else "")

    def _texts(self, key: tuple[int, str, str]) -> list[str]:
        return [self._text(self.cells.get((key, column))) for column in self.columns]

    def _text(self, one: Measurement | None) -> str:
        if one is None:
            return ""
        value = one.median / self.scale
        digits = 1
        if self.trim:
            figures = one.significant_figures
            value = trim_sigfig(value, figures)
            digits = max(0, figures - 1 - math.floor(math.log10(value))) if value else 0
        share = f" (! {one.iqr / one.median * 100:.0f}%)" if self.warn and one.has_warnings else ""
        return f"{value:.{min(digits, 1)}f}{share}"

    @staticmethod
    def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
        first, *rest = (
            text.ljust(width) if i == 0 else text.rjust(width)
            for i, (text, width) in enumerate(zip(cells, widths, strict=True))
        )
        return " | ".join([f"{first} ", *rest]).rstrip()

    def _coloured(self, key: tuple[int, str, str], widths: Sequence[int]) -> str:
        cells = [self._name(key), *self._texts(key)]
        if self.colour is None:
            return self._line(cells, widths)
        shown = [cells[0].ljust(widths[0])]
        for column, text, width in zip(self.columns, cells[1:], widths[1:], strict=True):
            shown.append(self._shade(key, column, text.rjust(width)))
        return " | ".join([f"{shown[0]} ", *shown[1:]])

    def _shade(self, key: tuple[int, str, str], column: str | None, text: str) -> str:
        one = self.cells.get((key, column))
        if one is None:
            return text
        rivals = [
            other.median
            for (row, place), other in self.cells.items()
            if (row == key if self.colour == "row" else place == column)
        ]
        multiple = one.median / min(rivals) if min(rivals) > 0 else 1.0
        colour = next(code for limit, code in _SHADES if multiple <= limit)
        return f"{colour}{_BOLD}{text}{_END}" if colour else text


def _row_key(one: Measurement) -> tuple[int, str, str]:
    return one.num_threads, one.task_spec.env or "", one.as_row_name
