"""The kernel calls of a piece of program: name, shapes, time. The seed of the profiler and of the compiler.

>>> import taeda
>>> from taeda.utils.op_trace import trace_ops
>>> with trace_ops() as trace:
...     _ = (taeda.ones(2, 3) * 2).sum()
>>> [call.op for call in trace.calls]
['ones', 'mul.Tensor', 'sum']
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from taeda import Tensor
from taeda._layers import tracers

__all__ = ["OpCall", "trace_ops"]


@dataclass(frozen=True)
class OpCall:
    """One kernel call; shapes are those of the tensor arguments, seconds are wall time of the kernel.

    >>> with taeda.utils.op_trace.trace_ops() as trace:
    ...     _ = taeda.ones(2) + 1
    >>> trace.calls[-1].op, trace.calls[-1].shapes
    ('add.Tensor', ((2,),))
    """

    op: str
    shapes: tuple[tuple[int, ...], ...]
    result_shapes: tuple[tuple[int, ...], ...]
    seconds: float


def _shapes(values: Any) -> tuple[tuple[int, ...], ...]:
    items = (
        (values,)
        if isinstance(values, Tensor)
        else values
        if isinstance(values, (tuple, list))
        else ()
    )
    flat = [x for item in items for x in (item if isinstance(item, (tuple, list)) else (item,))]
    return tuple(tuple(x.shape) for x in flat if isinstance(x, Tensor))


class trace_ops:
    """Context that lists the kernel calls of this thread in `calls`; `table()` sums them by operation.

    >>> x = taeda.ones(2)
    >>> with taeda.utils.op_trace.trace_ops() as trace:
    ...     _ = (x * 2).sin()
    >>> [call.op for call in trace.calls]
    ['mul.Tensor', 'sin']
    """

    def __init__(self) -> None:
        self.calls: list[OpCall] = []

    def __enter__(self) -> trace_ops:
        tracers.push(self)
        return self

    def __exit__(self, *unused: object) -> None:
        tracers.pop()

    def call(self, op: str, args: tuple[Any, ...], run: Callable[[], Any]) -> Any:
        """Run one kernel and note it."""
        start = time.perf_counter()
        made = run()
        self.calls.append(OpCall(op, _shapes(args), _shapes(made), time.perf_counter() - start))
        return made

    def table(self) -> str:
        """Operations by total time: calls, milliseconds, share."""
        totals: dict[str, list[float]] = {}
        for call in self.calls:
            entry = totals.setdefault(call.op, [0, 0.0])
            entry[0] += 1
            entry[1] += call.seconds
        whole = sum(seconds for _, seconds in totals.values()) or 1.0
        lines = [f"{'operation':32}{'calls':>8}{'ms':>10}{'share':>8}"]
        for op, (count, seconds) in sorted(totals.items(), key=lambda item: -item[1][1]):
            lines.append(f"{op:32}{int(count):8}{seconds * 1e3:10.3f}{seconds / whole:8.1%}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return self.table()
