"""Random numbers on devices come from the one generator of the process, so that the same seed gives
the same numbers on every device.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import taeda
from taeda._native import core as _core

from ._devices import device_count, is_available, ordinal_of

__all__ = [
    "get_rng_state", "get_rng_state_all", "initial_seed", "manual_seed", "manual_seed_all", "seed",
    "seed_all",
    "set_rng_state", "set_rng_state_all",
]  # fmt: skip

Tensor = _core.Tensor


def manual_seed(seed: int) -> None:
    """Seed the generator, which is the cpu's too. Without a device nothing happens.

    Args:
        seed: an integer of 64 bits; negative ones count from the top.

    >>> taeda.cuda.manual_seed(7)  # at once, or when a device is first used
    """
    number = int(seed)
    if is_available():
        taeda.manual_seed(number)


def manual_seed_all(seed: int) -> None:
    """As `manual_seed`: there is one generator.

    Args:
        seed: an integer of 64 bits; negative ones count from the top.

    >>> taeda.cuda.manual_seed_all(7)  # of every device, now or when one is first used
    """
    manual_seed(seed)


def seed() -> None:
    """Seed the generator with a number that nobody knows. Without a device nothing happens.

    >>> taeda.cuda.seed()
    """
    if is_available():
        taeda.seed()


def seed_all() -> None:
    """As `seed`.

    >>> taeda.cuda.seed_all()
    """
    seed()


def initial_seed() -> int:
    """The seed of the generator.

    >>> _ = taeda.manual_seed(7)
    >>> taeda.cuda.initial_seed()
    7
    """
    return int(taeda.initial_seed())


def get_rng_state(device: Any = "cuda") -> Tensor:
    """The state of the generator, as bytes on the cpu.

    Args:
        device: a device or its number ("cuda"); all have one generator.

    >>> if taeda.cuda.is_available():
    ...     before = taeda.cuda.get_rng_state()
    ...     x = taeda.rand(3, device="cuda")
    ...     taeda.cuda.set_rng_state(before)
    ...     assert taeda.equal(taeda.rand(3, device="cuda"), x)
    """
    ordinal_of(device)
    return taeda.get_rng_state()


def set_rng_state(new_state: Tensor, device: Any = "cuda") -> None:
    """Go on from a state that `get_rng_state` gave.

    Args:
        new_state: the bytes.
        device: a device or its number ("cuda"); all have one generator.

    >>> if taeda.cuda.is_available():
    ...     before = taeda.cuda.get_rng_state()
    ...     x = taeda.rand(3, device="cuda")
    ...     taeda.cuda.set_rng_state(before)
    ...     assert taeda.equal(taeda.rand(3, device="cuda"), x)
    """
    ordinal_of(device)
    taeda.set_rng_state(new_state)


def get_rng_state_all() -> list[Tensor]:
    """A state for each device; an empty list without one.

    >>> len(taeda.cuda.get_rng_state_all()) == taeda.cuda.device_count()
    True
    """
    return [get_rng_state(ordinal) for ordinal in range(device_count())]


def set_rng_state_all(new_states: Iterable[Tensor]) -> None:
    """As `set_rng_state` for each; the last one counts.

    Args:
        new_states: a state for each device.

    >>> taeda.cuda.set_rng_state_all(taeda.cuda.get_rng_state_all())
    """
    for ordinal, state in enumerate(new_states):
        set_rng_state(state, ordinal)
