"""Options of layers that are one number or one for each dimension."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

__all__ = ["_ntuple", "_pair", "_quadruple", "_reverse_repeat_tuple", "_single", "_triple"]


def _ntuple(count: int) -> Callable[[Any], tuple[Any, ...]]:
    """A function that turns one value into `count` equal ones, and leaves several as they are."""

    def parse(value: Any) -> tuple[Any, ...]:
        if isinstance(value, Iterable):
            return tuple(value)
        return tuple(itertools.repeat(value, count))

    return parse


_single = _ntuple(1)
_pair = _ntuple(2)
_triple = _ntuple(3)
_quadruple = _ntuple(4)


def _reverse_repeat_tuple(values: Sequence[int], times: int) -> tuple[int, ...]:
    """Each value `times` times, the last first: how `pad` wants its sizes."""
    return tuple(value for value in reversed(values) for _ in range(times))
