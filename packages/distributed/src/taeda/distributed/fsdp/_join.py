"""One node of the graph below all units of an outermost forward, for devices.

Backward reaches it when every unit has begun to reduce. There the stream that computes waits for the
reductions once, and the gradients go on to the shards. So a unit's reduction runs beside the
backward of the units before it, and whatever adds to a gradient comes after it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import taeda
from taeda import Tensor
from taeda.autograd.function import once_differentiable

__all__ = ["joined", "note_writes"]


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
        left = iter(_Join.apply(lanes, *shards))
        for unit in units:
            unit.aliases = [next(left) for _ in unit.shards]
    try:
        yield
    finally:
        for unit in units:
            unit.aliases = None


class _Join(taeda.autograd.Function):
    """Shards as they are; in backward their gradients, when all are there."""

    @staticmethod
    def forward(ctx: Any, lanes: Any, *shards: Any) -> Any:
        ctx.lanes = lanes
        ctx.set_materialize_grads(False)
        made = tuple(shard._like(shard._local.detach()) for shard in shards)
        frozen = [t for t, shard in zip(made, shards, strict=True) if not shard.requires_grad]
        ctx.mark_non_differentiable(*frozen)
        return made

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor | None) -> Any:
        ctx.lanes.settle()
        return None, *gradients
