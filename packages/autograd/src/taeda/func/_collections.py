"""Collections of tensors that make samples of themselves for `vmap`: classes with `_add_batch_dim` and
`_maybe_remove_batch_dim`, as tensordict has them. Such an object is one argument or result, whatever
`utils._pytree` knows of its class, since its batch size has to lose the mapped dimension.
"""

from __future__ import annotations

from typing import Any

from taeda import Tensor
from taeda.autograd.batching import Level, batched, levels

__all__ = [
    "add_batch_dim",
    "checked_dim",
    "is_collection",
    "maybe_remove_batch_dim",
    "part",
    "remove_batch_dim",
    "sample",
    "size",
    "whole",
]


def is_collection(value: Any) -> bool:
    """Whether an object makes samples of itself."""
    kind = type(value)
    if kind in _PLAIN:
        return False
    return hasattr(kind, "_add_batch_dim") and hasattr(kind, "_maybe_remove_batch_dim")


_PLAIN = frozenset({Tensor, tuple, list, dict, int, float, bool, str, type(None)})


# ---- what vmap asks ----


def size(value: Any, dim: int) -> int:
    """How many samples a tensor or a collection has along a dimension."""
    found: int = value.batch_size[dim] if is_collection(value) else value.size(dim)
    return found


def checked_dim(head: str, value: Any, dim: int) -> int:
    """The dimension, from 0; ValueError where the batch size has no such dimension."""
    rank = len(value.batch_size)
    if not -rank <= dim < rank:
        raise ValueError(
            f"{head}: Got in_dim={dim} for a {type(value).__name__} of batch size "
            f"{list(value.batch_size)}: expected -{rank} <= in_dim < {rank}"
        )
    return int(dim) % rank


def sample(value: Any, dim: int | None, level: Level) -> Any:
    """What the mapped function sees of a collection: its samples, or a copy of its own, which it may fill."""
    if dim is None:
        return value.clone(False) if hasattr(type(value), "keys") else value
    return value._add_batch_dim(in_dim=dim, vmap_level=level.number)


def part(value: Any, dim: int, start: int, count: int) -> Any:
    """Some of the samples of a tensor or a collection."""
    if is_collection(value):
        return value[(slice(None),) * dim + (slice(start, start + count),)]
    return value.narrow(dim, start, count)


def whole(name: str, value: Any, dim: int | None, level: Level) -> Any:
    """All samples of a collection that the mapped function returned, along `dim`; None: it has none."""
    if dim is None:
        return value
    return value._maybe_remove_batch_dim(
        name, vmap_level=level.number, batch_size=level.size, out_dim=dim
    )


# ---- what collections call ----


def add_batch_dim(tensor: Tensor, in_dim: int, vmap_level: int) -> Tensor:
    """A sample of a tensor, whose samples lie along `in_dim`, in the map of this number."""
    return batched(tensor.movedim(in_dim, 0), vmap_level)


def remove_batch_dim(tensor: Tensor, level: int, batch_size: int, out_dim: int) -> Tensor:
    """All samples that a tensor stands for in the map of this number, along `out_dim`. RuntimeError where
    no such map is at work.
    """
    here = next((one for one in levels() if one.number == level), None)
    if here is None:
        raise RuntimeError(f"_remove_batch_dim: no vmap of the number {level} is at work here")
    return here.full(tensor).movedim(0, out_dim)


def maybe_remove_batch_dim(
    name: str, batched_output: Any, vmap_level: int, batch_size: int, out_dim: int | None
) -> Any:
    """`remove_batch_dim`; without `out_dim` the value, which has to be no sample: ValueError."""
    if out_dim is None:
        if any(one.number == vmap_level and one.on(batched_output) for one in levels()):
            raise ValueError(
                f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None"
            )
        return batched_output
    if not isinstance(batched_output, Tensor):
        raise ValueError(
            f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(batched_output)}"
        )
    return remove_batch_dim(batched_output, vmap_level, batch_size, out_dim)
