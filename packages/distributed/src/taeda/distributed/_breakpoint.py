"""A debugger on one rank, while the others wait."""

from __future__ import annotations

import pdb  # noqa: T100 - a debugger is what this module offers
import sys
from datetime import timedelta
from typing import Any

from ._collectives import barrier
from ._groups.world import the_group, world

__all__ = ["breakpoint"]


def breakpoint(rank: int = 0, skip: int = 0, timeout_s: float = 3600) -> None:
    """Open pdb on `rank` of the default group.
    The other ranks wait until it continues, at most `timeout_s` seconds.

    Every rank calls it, with the same arguments. The first `skip` calls do nothing. The debugger
    reads the terminal of the launcher, and begins in this function: `up` goes to the line that
    called it.

    Raises ValueError without a default group, for a rank outside of it, or a negative `skip`;
    DistTimeoutError on the ranks that waited too long.
    """
    made = the_group(None, "breakpoint")
    assert made is not None
    if not 0 <= rank < made.size():
        raise ValueError(f"breakpoint: rank {rank} is outside of a group of {made.size()}")
    if skip < 0:
        raise ValueError(f"breakpoint: skip is the number of calls to leave out, not {skip}")
    here = world()
    here.breakpoints += 1
    if here.breakpoints <= skip:
        return
    if made.rank() == rank:
        debugger = _Pdb()
        debugger.message(
            f"rank {rank} stopped at breakpoint(); type 'up' for the line that called it, 'c' to go on"
        )
        debugger.set_trace()
    barrier(timeout=timedelta(seconds=timeout_s))


class _Pdb(pdb.Pdb):
    """pdb on the terminal: processes that a launcher started have another standard input in Python."""

    def interaction(self, *args: Any, **kwargs: Any) -> None:
        before = sys.stdin
        with open("/dev/stdin") as terminal:
            sys.stdin = terminal
            try:
                super().interaction(*args, **kwargs)
            finally:
                sys.stdin = before
