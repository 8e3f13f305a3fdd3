"""What programs set for the operators of DTensors: rules of their own, and what is refused."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

from taeda._core_api.operators import forget_plans, hold_plans

from .placement_types import Replicate

__all__ = [
    "REGISTERED", "check_gather", "limit_gathers", "listening", "register", "registrations", "replicates",
    "replicating", "tell",
]  # fmt: skip

#: strategies of operators by their text, from `register_sharding`
REGISTERED: dict[str, Callable[[Any, Any], Any]] = {}
#: what the keys of plans have of it: a row that gets a rule is planned anew
registrations = [0]


def register(operator: str, rule: Callable[[Any, Any], Any]) -> None:
    """Strategies of an operator from now on."""
    REGISTERED[operator] = rule
    registrations[0] += 1
    forget_plans()


class _Set(threading.local):
    def __init__(self) -> None:
        self.replicates = False
        self.limit: int | None = None
        self.listeners: list[Callable[[str], None]] = []


_set = _Set()


def replicates() -> bool:
    """Are plain tensors among DTensors taken to be the same on all ranks?"""
    return _set.replicates


@contextlib.contextmanager
def replicating() -> Iterator[None]:
    """Inside, plain tensors among DTensors are taken to be the same on all ranks."""
    before, _set.replicates = _set.replicates, True
    try:
        yield
    finally:
        _set.replicates = before


@contextlib.contextmanager
def limit_gathers(limit: int) -> Iterator[None]:
    """Inside, an operator that would gather more than `limit` bytes by itself raises RuntimeError."""
    before, _set.limit = _set.limit, limit
    try:
        yield
    finally:
        _set.limit = before


def check_gather(func: Any, value: Any, target: Any) -> None:
    """RuntimeError if what an operator gathers is larger than allowed."""
    if _set.limit is None:
        return
    pairs = zip(value.placements, target.placements, strict=True)
    if any(a.is_shard() and isinstance(b, Replicate) for a, b in pairs):
        nbytes = value.numel() * value.element_size()
        if nbytes > _set.limit:
            raise RuntimeError(
                f"{func} would gather {nbytes} bytes of {value._spec}, and {_set.limit} are allowed: "
                "redistribute the tensor where that is meant"
            )


def tell(operator: str) -> None:
    """Tell who listens on this thread that an operator of DTensors is called."""
    for listener in _set.listeners:
        listener(operator)


@contextlib.contextmanager
def listening(listener: Callable[[str], None]) -> Iterator[None]:
    """Inside, `listener` hears of each operator of DTensors."""
    _set.listeners.append(listener)
    hold_plans(True)
    try:
        yield
    finally:
        hold_plans(False)
        _set.listeners.remove(listener)
