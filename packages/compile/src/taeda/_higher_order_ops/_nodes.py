"""Operators of this package as nodes of graphs, whose functions are graphs that get all that
they read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from taeda import Tensor

from .map import map as map_of
from .scan import scan
from .while_loop import while_loop

__all__ = ["map_op", "scan_op", "while_loop_op"]


def while_loop_op(
    cond_fn: Callable[..., Any],
    body_fn: Callable[..., Any],
    carried: tuple[Tensor, ...],
    others: tuple[Tensor, ...],
) -> tuple[Tensor, ...]:
    """The loop as a node of a graph: both functions get what is carried and then `others`;
    `cond_fn` gives a tuple of one.

    >>> import taeda
    >>> less, more = lambda i, n: (i < n,), lambda i, n: (i + 1,)
    >>> while_loop_op(less, more, (taeda.tensor(0),), (taeda.tensor(3),))
    (tensor(3),)
    """
    made = while_loop(lambda *t: cond_fn(*t, *others)[0], lambda *t: body_fn(*t, *others), carried)
    return tuple(made)


def scan_op(
    combine_fn: Callable[..., Any],
    init: tuple[Tensor, ...],
    xs: tuple[Tensor, ...],
    others: tuple[Tensor, ...],
) -> tuple[Tensor, ...]:
    """The scan as a node of a graph: `combine_fn` gets the carry, slices of `xs` along dimension 0 and
    `others`, and gives the new carry and the outputs, which the node gives stacked.

    >>> import taeda
    >>> scan_op(lambda a, x, k: (a + x, a * k), (taeda.tensor(0),), (taeda.arange(3),), (taeda.tensor(2),))
    (tensor(3), tensor([0, 0, 2]))
    """
    count = len(init)

    def step(carry: Any, slices: Any) -> Any:
        made = combine_fn(*carry, *slices, *others)
        return tuple(made[:count]), tuple(made[count:])

    carry, outputs = scan(step, tuple(init), tuple(xs))
    return (*carry, *outputs)


def map_op(
    f: Callable[..., Any], xs: tuple[Tensor, ...], others: tuple[Tensor, ...]
) -> tuple[Tensor, ...]:
    """The map as a node of a graph: `f` gets slices of `xs` along dimension 0 and `others`, and gives a
    tuple.

    >>> import taeda
    >>> map_op(lambda x, k: (x * k,), (taeda.arange(3),), (taeda.tensor(2),))
    (tensor([0, 2, 4]),)
    """
    return tuple(map_of(lambda slices: tuple(f(*slices, *others)), tuple(xs)))
