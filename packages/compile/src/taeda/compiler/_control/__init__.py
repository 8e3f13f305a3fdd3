"""Operators that call functions, as one call of a graph each: `cond` and `while_loop` by a tensor,
`scan` and `map` where a recorder keeps them.

    explored    each function runs once on the side, nothing of what it does lasts: which tensors it
    reads besides its
                operands, what it gives, how its results are differentiated
    compared    what branches give is alike, a loop carries what it was given
    applied     one `autograd.Function`, so derivatives and maps of it are such calls themselves
    recorded    by the recorders around, as one step with a graph for each function (`Part`)

What cannot be such a call is `Refused`: then the function runs as Python does, and the recorder
hears why.
"""

from __future__ import annotations

from .._graph.recorder import control
from ._cond import cond
from ._loop import loop
from ._part import Control, Part, call, part
from ._scan import scan

__all__ = ["Control", "Part", "cond", "loop", "part", "scan"]

control.cond, control.loop, control.scan, control.call = cond, loop, scan, call
