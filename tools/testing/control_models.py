"""Models with branches, loops and scans: their arguments by two sizes, and which sizes differ."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from program_models import normal

import taeda
from taeda import nn
from taeda._higher_order_ops import map as map_of
from taeda._higher_order_ops import scan
from taeda._higher_order_ops.while_loop import while_loop
from taeda.export import Dim

__all__ = ["CASES", "Branch", "Loop", "Sums", "Unrolled"]


class Branch(nn.Module):
    """One branch reads parameters, the other one a constant and a buffer."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.register_buffer("shift", taeda.tensor(3.0))

    def forward(self, x):
        def other(x):
            return x * taeda.tensor([1.0, 2.0, 3.0, 4.0]), x + self.shift

        return taeda.cond(x.sum() > 0, lambda x: (self.linear(x), x.sin()), other, (x,))


class Loop(nn.Module):
    """A loop with a branch in it."""

    def forward(self, x):
        def step(i, y):
            return i + 1, taeda.cond(y.sum() > 10, lambda y: y - 1, lambda y: y * 2, (y,))

        return while_loop(lambda i, y: i < 4, step, (taeda.tensor(0), x.abs()))


class Unrolled(nn.Module):
    """A recurrent network as a scan, whose carry is an output as well, and a map with a constant."""

    def __init__(self):
        super().__init__()
        self.given, self.kept = nn.Linear(3, 5), nn.Linear(5, 5)

    def forward(self, x):
        def step(h, row):
            h = (self.given(row) + self.kept(h)).tanh()
            return h, h

        last, every = scan(step, x.new_zeros(x.shape[1], 5), x)
        return last, every, map_of(lambda row, k: (row * k).sum(-1), x, taeda.tensor(2.0))


class Sums(nn.Module):
    """A scan from the end along the last dimension, of trees, with a branch in it."""

    def forward(self, x):
        def step(carry, part):
            total = taeda.cond(part.sum() > 0, lambda v: v * 2, lambda v: v - 1, (part,))
            carry = {"sum": carry["sum"] + total, "power": carry["power"] * 2}
            return carry, (part * carry["power"], total.sin())

        first = {"sum": taeda.zeros(4), "power": taeda.ones(4)}
        return scan(step, first, x.sin(), dim=1, reverse=True)


class Case(NamedTuple):
    make: Callable[[], nn.Module]
    given: Callable[[int, int], tuple[Any, ...]]
    shapes: Any


CASES: dict[str, Case] = {
    "branch": Case(Branch, lambda n, m: (normal(n, 4) - m % 2,), ({0: Dim("n")},)),
    "loop": Case(Loop, lambda n, _: (normal(n, 4),), ({0: Dim("n")},)),
    "scan": Case(Unrolled, lambda n, m: (normal(n, m, 3),), ({0: Dim("t"), 1: Dim("b")},)),
    "sums": Case(Sums, lambda n, _: (normal(4, n),), ({1: Dim("t")},)),
}
