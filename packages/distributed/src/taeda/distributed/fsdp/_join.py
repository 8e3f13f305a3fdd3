"""One node of the graph below all units of an outermost forward, for devices.

Backward reaches it when every unit has begun to reduce. There the stream that computes waits for the
reductions once, and the gradients go on to the shards. So a unit's reduction runs beside the
backward of the units before it, and whatever adds to a gradient comes after it. Only a unit that
was used twice has its gradients added up on the way there, so its second reduction is waited for.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import taeda
from taeda import Tensor
from taeda.autograd.function import once_differentiable

__all__ = ["Join", "joined", "note_writes"]


class Join:
    """The node of one forward, as its units see it: which of them have handed it gradients."""

    def __init__(self, lanes: Any) -> None:
        self.lanes = lanes
        self._from: set[int] = set()

    def takes(self, unit: Any) -> bool:
        """Does it wait for the gradients of this unit? Not for a second time, as the first ones lie
        there.
        """
        if id(unit) in self._from:
            return False
        self._from.add(id(unit))
        return True

    def settle(self) -> None:
        """All gradients are there, and another backward of the graph begins anew."""
        self.lanes.settle()
        self._from.clear()


def note_writes(units: Sequence[Any], lanes: Any) -> None:
    """Gathers of these units come after what the current stream has now, and need not wait for more."""
    event = lanes.mark()
    for unit in units:
        unit.ready = unit.stamp(), event


@contextlib.contextmanager
def joined(units: Sequence[Any], lanes: Any) -> Iterator[None]:
    """Around an outermost forward: units find their shards as the node hands them on."""
    for unit in units:
        unit.adopt()
    note_writes(units, lanes)
    shards = [shard for unit in units for shard in unit.shards]
    if taeda.is_grad_enabled() and any(shard.requires_grad for shard in shards):
        join = Join(lanes)
        left = iter(_Joined.apply(join, *shards))
        for unit in units:
            unit.join, unit.aliases = join, [next(left) for _ in unit.shards]
    try:
        yield
    finally:
        for unit in units:
            unit.join = unit.aliases = None


class _Joined(taeda.autograd.Function):
    """Shards as they are; in backward their gradients, when all are there."""

    @staticmethod
    def forward(ctx: Any, join: Join, *shards: Any) -> Any:
        ctx.join = join
        ctx.set_materialize_grads(False)
        made = tuple(shard._like(shard._local.detach()) for shard in shards)
        frozen = [t for t, shard in zip(made, shards, strict=True) if not shard.requires_grad]
        ctx.mark_non_differentiable(*frozen)
        return made

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor | None) -> Any:
        ctx.join.settle()
        return None, *gradients
