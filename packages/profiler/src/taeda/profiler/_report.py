"""What the page of a recording shows: sums over it, and what a watch found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ._page import Shown
from ._recording import Range
from ._roofline import measure, work_of
from ._watch import Watch

__all__ = ["report"]


def report(
    title: str,
    ranges: Sequence[Range],
    curve: Sequence[tuple[int, int, str]] = (),
    watch: Watch | None = None,
    took: int | None = None,
) -> Shown:
    """The limits of this machine are measured, if arithmetic was counted. `took` nanoseconds: from the
    first range to the end of the last, unless given.
    """
    first = min((one.start for one in ranges), default=0)
    shown = Shown(title, ranges, took if took is not None else _last(ranges) - first, curve)
    shown.lines = _lines(ranges)
    if any(one.moved for one in ranges):
        shown.work, shown.limits = work_of(ranges), measure()
    if watch is not None:
        shown.curve, shown.peak, shown.findings = watch.curve, watch.ledger.peak, watch.found()
        shown.lines = watch.run.lines()
        shown.steps = watch.run.step
    return shown


def _last(ranges: Iterable[Range]) -> int:
    return max((one.end for one in ranges), default=0)


def _lines(ranges: Iterable[Range]) -> dict[str, tuple[int, int]]:
    """(calls, nanoseconds) of operations by the innermost line that was noted."""
    sums: dict[str, tuple[int, int]] = {}
    for one in ranges:
        if one.kind == "cpu_op" and one.stack:
            place = one.stack[0].partition("): ")[0].replace("(", ":")
            calls, took = sums.get(place, (0, 0))
            sums[place] = calls + 1, took + one.end - one.start
    return sums
