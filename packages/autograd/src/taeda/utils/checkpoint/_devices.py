"""States of the generators of devices, for those who compute a piece of a model again themselves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import taeda
from taeda import Tensor

__all__ = ["get_device_states", "set_device_states"]


def _ordinals(value: Any) -> Iterator[int]:
    if isinstance(value, Tensor) and value.device.type == "cuda":
        yield value.get_device()
    elif isinstance(value, dict):
        for one in value.values():
            yield from _ordinals(one)
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from _ordinals(one)


def get_device_states(*args: Any) -> tuple[list[int], list[Tensor]]:
    """The numbers of the devices on which tensors of `args` lie, nested ones too, each once, and the
    states of their generators. The cpu's is `taeda.get_rng_state()`, and is not among them.

    Args:
        *args: tensors, nested in tuples, lists and dicts or not; other values do not count.

    >>> get_device_states(taeda.ones(2))
    ([], [])
    """
    devices = list(dict.fromkeys(_ordinals(args)))
    return devices, [taeda.cuda.get_rng_state(device) for device in devices]


def set_device_states(devices: Sequence[int], states: Sequence[Tensor]) -> None:
    """Give the generators of devices the states that `get_device_states` found.

    ValueError where there is not a state for each device.

    Args:
        devices: numbers of devices.
        states: state of the generator of each.

    >>> x = taeda.ones(2, device="cuda" if taeda.cuda.is_available() else "cpu")
    >>> devices, states = get_device_states(x)
    >>> first = taeda.rand_like(x)
    >>> set_device_states(devices, states)  # on a card, the same numbers come again
    """
    if len(devices) != len(states):
        raise ValueError(f"{len(devices)} devices and {len(states)} states: one each is wanted")
    for device, state in zip(devices, states, strict=True):
        taeda.cuda.set_rng_state(state, device)
