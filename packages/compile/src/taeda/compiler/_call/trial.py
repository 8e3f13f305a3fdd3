"""Is a graph worth it? The program and its graph take turns, each call is timed, and the faster stays.

one graph                     twelve of its runs, the fastest of each side (`verdict`)
all graphs of one function    128 calls, the usual one of each side, where calls rarely find the right
                              graph first (`Scatter`)
a unit                        twelve calls, with all that it takes to come there (`_call/compiled.py`)
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from .._replay.trace import Trace

__all__ = ["Scatter", "Turns", "is_graphs_turn", "verdict"]

TRIAL = range(20, 32)  # the runs of a graph that are timed
CLEARLY = 0.9  # of the program's time, for a graph that leaves its casts to a region
WAY = 5e-7  # seconds from a call to where the time begins
# so many calls for which the first graph was none, and all graphs together are timed
SCATTERED = 100
JUDGED = 128  # calls that are timed for that
NEVER = -1 << 62


def is_graphs_turn(number: int) -> bool:
    """Whether call `number` is the graph's: in no rhythm that calls could have as well."""
    return number.bit_count() % 2 == 0


class Turns:
    """Seconds of calls of a program, and of its graph."""

    def __init__(self) -> None:
        self.seconds: tuple[list[float], list[float]] = ([], [])

    def __len__(self) -> int:
        return len(self.seconds[0]) + len(self.seconds[1])

    def timed(self, by_graph: bool, call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """What the call returns; its time is kept."""
        start = time.perf_counter()
        result = call(*args, **kwargs)
        self.seconds[by_graph].append(time.perf_counter() - start)
        return result

    def fastest(self) -> tuple[float, float]:
        """(of the program, of the graph)"""
        program, graph = (min(found, default=0.0) for found in self.seconds)
        return program, graph

    def usual(self) -> tuple[float, float]:
        """(of the program, of the graph): means without the slowest quarter, in which something else ran."""
        program, graph = map(_usual, self.seconds)
        return program, graph


def _usual(seconds: list[float]) -> float:
    kept = sorted(seconds)[: max(1, len(seconds) * 3 // 4)]
    return sum(kept) / len(kept)


def verdict(trace: Trace) -> str:
    """Why a graph is left, after its last timed run; "" if it stays or is timed once more."""
    program, graph = (min(found) for found in trace.seconds)
    # a region keeps weights for both; what is left to win has to be clear
    if graph + WAY <= program * (CLEARLY if trace.has_casts else 1.0):
        return ""
    if trace.waits_for_chains():
        trace.runs, trace.seconds = 0, ([], [])  # once more: chains may win it
        return ""
    if not trace.lost:
        trace.lost = True
        trace.runs = TRIAL[0] - 1  # once more: other work may have been beside it
        return ""
    trace.runs = -1
    return f"its graph takes {graph * 1e6:.1f} us, the program itself {program * 1e6:.1f} us"


class Scatter:
    """How often the first graph of a function was not the one for a call.

    The way to the right one takes time, too: after many such calls all graphs together are timed,
    once.
    """

    def __init__(self) -> None:
        self.misses = 0  # below zero: it is decided
        self._turns = Turns()

    def is_due(self) -> bool:
        """Whether the next call is to be timed."""
        return self.misses >= SCATTERED

    def start_over(self) -> None:
        """Graphs came, or went: what is not decided yet begins again."""
        self.misses = min(self.misses, 0)

    def stop(self) -> None:
        """Nothing is to be timed any more."""
        self.misses, self._turns = NEVER, Turns()

    def turn(self, by_graphs: Callable[..., Any], program: Callable[..., Any]) -> tuple[Any, str]:
        """(what the call returns, why all graphs are left or "")"""
        by_graph = is_graphs_turn(len(self._turns))
        result = self._turns.timed(by_graph, by_graphs if by_graph else program)
        if len(self._turns) < JUDGED:
            return result, ""
        of_program, of_graphs = self._turns.usual()
        self.stop()
        if of_graphs + WAY <= of_program:
            return result, ""
        return result, (
            f"its graphs take {of_graphs * 1e6:.1f} us a call, the program itself "
            f"{of_program * 1e6:.1f} us"
        )
