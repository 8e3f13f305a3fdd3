"""A state that rank 0 alone holds, given to all ranks one tensor at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import taeda
from taeda import Tensor

from .._calls import purpose
from .._collectives import broadcast
from .._groups.world import world
from .._objects import broadcast_object_list

__all__ = ["mapped", "spread"]

Path = tuple[Any, ...]


@dataclass
class _Coming:
    """A tensor that follows the message."""

    shape: tuple[int, ...]
    dtype: taeda.dtype


def mapped(value: Any, change: Callable[[Path, Any], Any], path: Path = ()) -> Any:
    """The same dicts and lists with other leaves; `change` gets the keys that lead to a leaf, and it."""
    if isinstance(value, dict):
        return {key: mapped(inner, change, (*path, key)) for key, inner in value.items()}
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        made = [mapped(inner, change, (*path, at)) for at, inner in enumerate(value)]
        return type(value)(made)
    return change(path, value)


def spread(state: Any, keep: Callable[[Path, Tensor], Any]) -> Any:
    """Rank 0's `state` on all ranks of the default group, each tensor as `keep(path, whole)` makes it.

    A rank holds one whole tensor at a time, beside what it keeps. All ranks call it; what others than
    rank 0 give is not looked at. The structure travels pickled. RuntimeError without a group.
    """
    group = world().default
    if group is None:
        raise RuntimeError("broadcast_from_rank0 needs the default group: init_process_group first")
    first = group.rank() == 0
    sent: list[Tensor] = []

    def leaf(_: Path, value: Any) -> Any:
        if not isinstance(value, Tensor):
            return value
        sent.append(value)
        return _Coming(tuple(value.shape), value.dtype)

    told = [mapped(state, leaf) if first else None]
    left = iter(sent)

    def came(path: Path, value: Any) -> Any:
        if not isinstance(value, _Coming):
            return value
        with purpose(f"spreads {'.'.join(map(str, path))}"):
            return keep(path, _spread(next(left) if first else value, group))

    with purpose("spreads the names of a state"):
        broadcast_object_list(told, 0)
    return mapped(told[0], came)


def _spread(value: Tensor | _Coming, group: Any) -> Tensor:
    if isinstance(value, Tensor):
        whole: Any = value.detach()
        whole = whole.full_tensor() if hasattr(whole, "full_tensor") else whole
        whole = whole.to(group.device).clone(memory_format=taeda.contiguous_format)
    else:
        whole = taeda.empty(value.shape, dtype=value.dtype, device=group.device)
    if whole.numel():
        broadcast(whole, 0)
    return whole
