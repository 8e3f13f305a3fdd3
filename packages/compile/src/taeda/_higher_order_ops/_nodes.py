"""Operators of this package as nodes of graphs, whose functions are graphs that get all that
they read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from taeda import Tensor

from .while_loop import while_loop

__all__ = ["while_loop_op"]


def while_loop_op(
    cond_fn: Callable[..., Any], body_fn: Callable[..., Any],
    carried: tuple[Tensor, ...], others: tuple[Tensor, ...],
) -> tuple[Tensor, ...]:  # fmt: skip
    """The loop as a node of a graph: both functions get what is carried and then `others`;
    `cond_fn` gives a tuple of one.

    >>> import taeda
    >>> less, more = lambda i, n: (i < n,), lambda i, n: (i + 1,)
    >>> while_loop_op(less, more, (taeda.tensor(0),), (taeda.tensor(3),))
    (tensor(3),)
    """
    made = while_loop(lambda *t: cond_fn(*t, *others)[0], lambda *t: body_fn(*t, *others), carried)
    return tuple(made)
