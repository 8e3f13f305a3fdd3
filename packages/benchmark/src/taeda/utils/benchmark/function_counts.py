"""Instruction counts by function: what Callgrind found, as a table that can be added, subtracted
and filtered.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, overload

__all__ = ["FunctionCount", "FunctionCounts"]

_SHOWN_HEAD, _SHOWN_TAIL = 18, 9
_WIDTH = 100
# Looking names up in dicts hashes and compares strings; what that costs depends on where they lie.
_NOISY = re.compile(
    r"(dictobject|unicodeobject)\.c:(lookdict|unicode_eq|_?unicode_hash|.*lookup|.*_dict_lookup)"
)


class FunctionCount(NamedTuple):
    """Instructions spent in a function.

    >>> FunctionCount(30, "f.c:run").function
    'f.c:run'
    """

    count: int  # type: ignore[assignment] # the field's name for it, and tuple's for a method nobody asks here
    function: str


class FunctionCounts:
    """Instruction counts, most first. `inclusive`: callees count for their callers too.

    Adding and subtracting join equal names; a slice is FunctionCounts again, an index a FunctionCount.

    >>> a = FunctionCounts((FunctionCount(30, "f.c:run"), FunctionCount(5, "f.c:stop")), inclusive=False)
    >>> (a - a[1:]).sum()
    30
    """

    def __init__(
        self,
        _data: Iterable[FunctionCount],
        inclusive: bool,
        truncate_rows: bool = True,
        _linewidth: int | None = None,
    ) -> None:
        self._data = tuple(_data)
        self.inclusive, self.truncate_rows, self._linewidth = inclusive, truncate_rows, _linewidth

    def __iter__(self) -> Iterator[FunctionCount]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    @overload
    def __getitem__(self, item: int) -> FunctionCount: ...
    @overload
    def __getitem__(self, item: slice) -> FunctionCounts: ...
    def __getitem__(self, item: int | slice) -> FunctionCount | FunctionCounts:
        found = self._data[item]
        return found if isinstance(found, FunctionCount) else self._with(found)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FunctionCounts):
            return NotImplemented
        return (self._data, self.inclusive) == (other._data, other.inclusive)

    def __hash__(self) -> int:
        return hash((self._data, self.inclusive))

    def __add__(self, other: FunctionCounts) -> FunctionCounts:
        return self._merge(other, 1)

    def __sub__(self, other: FunctionCounts) -> FunctionCounts:
        return self._merge(other, -1)

    def __mul__(self, factor: int) -> FunctionCounts:
        return self._with(FunctionCount(count * factor, name) for count, name in self)

    def filter(self, filter_fn: Callable[[str], bool]) -> FunctionCounts:
        """Only the functions whose name `filter_fn` accepts."""
        return self._with(one for one in self if filter_fn(one.function))

    def transform(self, map_fn: Callable[[str], str]) -> FunctionCounts:
        """Every name through `map_fn`; counts of names that become equal are added."""
        return self._with(_joined(FunctionCount(count, map_fn(name)) for count, name in self))

    def denoise(self) -> FunctionCounts:
        """Without the interpreter's look-ups of names in dicts, whose cost varies from run to run."""
        return self.filter(lambda name: not _NOISY.search(name))

    def sum(self) -> int:
        """All instructions together. Of inclusive counts this counts callees many times."""
        return sum(one.count for one in self)

    def _merge(self, other: FunctionCounts, sign: int) -> FunctionCounts:
        if self.inclusive != other.inclusive:
            raise ValueError(
                "inclusive and exclusive counts cannot be joined: ask both with the same `inclusive`"
            )
        return self._with(_joined([*self, *(other * sign)]))

    def _with(self, data: Iterable[FunctionCount]) -> FunctionCounts:
        return FunctionCounts(data, self.inclusive, self.truncate_rows, self._linewidth)

    def __repr__(self) -> str:
        rows = list(self)
        hidden = len(rows) - _SHOWN_HEAD - _SHOWN_TAIL
        width = max([len(str(one.count)) for one in rows], default=1)
        lines = [self._line(one, width) for one in rows]
        if self.truncate_rows and hidden > 1:
            lines[_SHOWN_HEAD:-_SHOWN_TAIL] = [f"{'...':>{width + 2}}  ({hidden} more)"]
        kind = "inclusive" if self.inclusive else "exclusive"
        total = [] if self.inclusive else ["", f"Total: {self.sum()}"]
        return "\n".join([f"FunctionCounts, {kind}, {len(rows)} functions", *lines, *total])

    def _line(self, one: FunctionCount, width: int) -> str:
        room = (self._linewidth or _WIDTH) - width - 4
        name = one.function if len(one.function) <= room else one.function[: room - 3] + "..."
        return f"  {one.count:>{width}}  {name}"


def _joined(counts: Iterable[FunctionCount]) -> list[FunctionCount]:
    """Equal names together, what adds up to nothing left out, most first."""
    sums: dict[str, int] = {}
    for count, name in counts:
        sums[name] = sums.get(name, 0) + count
    return sorted((FunctionCount(n, name) for name, n in sums.items() if n), reverse=True)
