"""The process-wide stream of random numbers: seeding it, saving it, putting it back."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

from taeda import Generator, Tensor, default_generator

__all__ = [
    "default_generator",
    "fork_rng",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "seed",
    "set_rng_state",
]


def manual_seed(seed: int) -> Generator:
    """Start the stream of `seed` on every device, and return the generator of the cpu.

    Args:
        seed: an integer in [-2**63, 2**64 - 1], else ValueError; a negative one counts as
            `seed + 2**64`.

    >>> _ = taeda.manual_seed(7)
    >>> x = taeda.rand(3)
    >>> _ = taeda.manual_seed(7)
    >>> taeda.equal(taeda.rand(3), x)
    True
    """
    return default_generator.manual_seed(int(seed))


def seed() -> int:
    """Start a stream that nobody can foresee, and return its seed.

    >>> taeda.seed() == taeda.initial_seed()
    True
    """
    return default_generator.seed()


def initial_seed() -> int:
    """The seed of the stream in use.

    >>> _ = taeda.manual_seed(7)
    >>> taeda.initial_seed()
    7
    """
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """Where the stream is, as a uint8 tensor.

    >>> state = taeda.get_rng_state()
    >>> x = taeda.rand(3)
    >>> taeda.set_rng_state(state)
    >>> taeda.equal(taeda.rand(3), x)
    True
    """
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Go back to a place in a stream that `get_rng_state` gave.

    Args:
        new_state: 16 bytes: a contiguous uint8 tensor on the cpu. TypeError for another dtype,
            RuntimeError for another number of them.

    >>> state = taeda.get_rng_state()
    >>> x = taeda.rand(3)
    >>> taeda.set_rng_state(state)
    >>> taeda.equal(taeda.rand(3), x)
    True
    """
    default_generator.set_state(new_state)


@contextlib.contextmanager
def fork_rng(
    devices: Iterable[Any] | None = None,
    enabled: bool = True,
    _caller: str = "fork_rng",
    _devices_kw: str = "devices",
    device_type: str = "cuda",
) -> Iterator[None]:
    """Put the stream back, at the end of the `with` block, to where it was at its beginning.

    With `enabled=False` nothing is put back. There is one device, the cpu, so `devices` may only
    be empty or None.

    >>> _ = taeda.manual_seed(7)
    >>> with taeda.random.fork_rng():
    ...     _ = taeda.manual_seed(0)
    >>> taeda.initial_seed()
    7
    """
    if not enabled:
        yield
        return
    if listed := list(devices or ()):
        raise RuntimeError(
            f"{_caller}: {_devices_kw}={listed} names {device_type} devices, and there are none"
        )
    before = get_rng_state()
    try:
        yield
    finally:
        set_rng_state(before)
