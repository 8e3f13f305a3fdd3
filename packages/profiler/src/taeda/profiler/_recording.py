"""What one recording noted: ranges of Python, and calls that C noted, put in order when somebody asks."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from typing import Any

from ._texts import operation

__all__ = ["Calls", "Range", "Recording"]

#: names of rows, and three int64 for each call: name, begin, end
Calls = tuple[Sequence[str], bytes]


class Range:
    """One operation or named piece of program: when, within what, and what was noted of it."""

    __slots__ = (
        "children", "end", "flops", "kind", "memory", "moved", "name", "overload", "parent",
        "shapes", "stack", "start", "text", "thread",
    )  # fmt: skip

    def __init__(self, name: str, overload: str, kind: str, parent: Range | None) -> None:
        self.name, self.overload, self.kind, self.parent = name, overload, kind, parent
        self.text = ""
        # lists are made when needed: most ranges have none
        self.children: list[Range] | None = None
        self.shapes: list[Any] | None = None
        self.stack: list[str] | None = None
        self.thread, self.flops, self.memory, self.moved = threading.get_ident(), 0, 0, 0
        self.start = self.end = 0


class Recording:
    """Ranges in the order in which they began. Calls of C become ranges at the first question: most
    recordings of a long run are never asked for single ones.
    """

    def __init__(self, ranges: list[Range], calls: Iterable[Calls] = (), thread: int = 0) -> None:
        self._ranges, self._calls, self._thread = ranges, list(calls), thread

    def ranges(self) -> list[Range]:
        """All of them, each within the innermost that was open when it began."""
        if self._calls:
            made = [one for calls in self._calls for one in _made(*calls, self._thread)]
            self._ranges, self._calls = _nested([*self._ranges, *made]), []
        return self._ranges


def _made(names: Sequence[str], rows: bytes, thread: int) -> list[Range]:
    words = [(operation(name), name.partition(".")[2]) for name in names]
    numbers = memoryview(rows).cast("q").tolist()
    made = []
    for place, start, end in zip(numbers[::3], numbers[1::3], numbers[2::3], strict=True):
        one = Range(*words[place], "cpu_op", None)
        one.start, one.end, one.thread = start, end, thread
        made.append(one)
    return made


def _nested(ranges: list[Range]) -> list[Range]:
    ranges.sort(key=lambda one: (one.start, -one.end))  # stable: who was entered first stays first
    around: list[Range] = []
    for one in ranges:
        while around and around[-1].end < one.end:
            around.pop()
        one.parent, one.children = (around[-1] if around else None), None
        if one.parent is not None:
            if one.parent.children is None:
                one.parent.children = []
            one.parent.children.append(one)
        around.append(one)
    return ranges
