"""Rows that join tensors."""

from __future__ import annotations

from collections.abc import Iterator

from ..placement_types import Partial, Shard
from ._call import Call, Strategy, rule

__all__ = ["cat"]


@rule("cat stack")
def cat(call: Call) -> Iterator[Strategy]:
    """All dimensions but that along which they are joined; terms of all."""
    out = call.outs[0] or ()
    along = call.dim("dim", len(out))
    shapes = {value.ndim for value in call.values}
    if any(value.spec is None for value in call.values) or len(shapes) > 1:
        return  # a plain one among them, or one that is empty and has another number of dimensions
    new = call.name == "stack"
    for dim in range(len(out)):
        if dim != along:
            yield call.strategy({"tensors": Shard(dim - (new and dim > along))}, Shard(dim))
    for op in ("sum", "avg", "max", "min"):
        yield call.strategy({"tensors": Partial(op)}, Partial(op))
