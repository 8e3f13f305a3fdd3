"""Options of layers that are one number or one for each dimension."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

__all__ = [
    "_ntuple", "_pair", "_quadruple", "_reverse_repeat_tuple", "_single", "_triple",
    "consume_prefix_in_state_dict_if_present",
]  # fmt: skip


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


def consume_prefix_in_state_dict_if_present(state_dict: dict[str, Any], prefix: str) -> None:
    """Take a prefix such as "module." from all names of a state dict, in place and in their order, and
    from the names of its `_metadata`. Names without it stay.

    >>> state = {"module.weight": 1, "step": 2}
    >>> consume_prefix_in_state_dict_if_present(state, "module.")
    >>> state
    {'weight': 1, 'step': 2}
    """
    _rename(state_dict, prefix)
    metadata = getattr(state_dict, "_metadata", None)
    if metadata is not None:
        _rename(metadata, prefix, {prefix.rstrip("."): ""})


def _rename(
    table: dict[str, Any], prefix: str, whole: Mapping[str, str] = MappingProxyType({})
) -> None:
    """`whole` has the new names of those that are no longer than the prefix."""
    for name in list(table):
        new = whole.get(name, name.removeprefix(prefix))
        table[new] = table.pop(name)  # all in turn, so that the order stays
