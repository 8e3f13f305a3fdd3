"""Metal: this build has none, and says so.

Questions about devices have answers (there is none); what needs one raises RuntimeError.
"""

from __future__ import annotations

from typing import Any

from taeda._native import core as _core
from taeda._torch_names.absent_answers import (
    device_count,
    empty_cache,
    is_available,
    manual_seed,
)
from taeda._torch_names.absent_device import refuse

from . import event, profiler

__all__ = [
    "compile_shader",
    "current_allocated_memory",
    "device_count",
    "driver_allocated_memory",
    "empty_cache",
    "event",
    "get_rng_state",
    "is_available",
    "manual_seed",
    "profiler",
    "recommended_max_memory",
    "seed",
    "set_per_process_memory_fraction",
    "set_rng_state",
    "synchronize",
]

Tensor = _core.Tensor


def synchronize() -> None:
    """RuntimeError: there is nothing to wait for.

    >>> taeda.mps.synchronize()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    RuntimeError: taeda.mps.synchronize needs a mps device...
    """
    refuse("mps", "synchronize")


def current_allocated_memory() -> int:
    """RuntimeError: there is no memory to tell of. Libraries call it to see whether there is such a device.

    >>> taeda.mps.current_allocated_memory()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    RuntimeError: taeda.mps.current_allocated_memory needs a mps device...
    """
    refuse("mps", "current_allocated_memory")


def driver_allocated_memory() -> int:
    """RuntimeError: there is no memory to tell of. Libraries call it to see whether there is such a device.

    >>> taeda.mps.driver_allocated_memory()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    RuntimeError: taeda.mps.driver_allocated_memory needs a mps device...
    """
    refuse("mps", "driver_allocated_memory")


def recommended_max_memory() -> int:
    """RuntimeError: there is no memory to tell of.

    >>> taeda.mps.recommended_max_memory()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    RuntimeError: taeda.mps.recommended_max_memory needs a mps device...
    """
    refuse("mps", "recommended_max_memory")


def set_per_process_memory_fraction(fraction: float) -> None:
    """RuntimeError: there is no memory to limit.

    >>> taeda.mps.set_per_process_memory_fraction(0.5)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    RuntimeError: taeda.mps.set_per_process_memory_fraction needs a mps device...
    """
    refuse("mps", "set_per_process_memory_fraction")


def seed() -> None:
    """Nothing, as `manual_seed`.

    >>> taeda.mps.seed()  # of no device
    """


def compile_shader(source: str) -> Any:
    """RuntimeError: there is no Metal to compile for.

    >>> taeda.mps.compile_shader("kernel void fill() {}")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    RuntimeError: taeda.mps.compile_shader needs a mps device...
    """
    refuse("mps", "compile_shader")


def get_rng_state(device: Any = "mps") -> Tensor:
    """RuntimeError: no device has a generator.

    >>> taeda.mps.get_rng_state()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    RuntimeError: taeda.mps.get_rng_state needs a mps device...
    """
    refuse("mps", "get_rng_state")


def set_rng_state(new_state: Tensor, device: Any = "mps") -> None:
    """RuntimeError: no device has a generator.

    >>> taeda.mps.set_rng_state(taeda.get_rng_state())  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    RuntimeError: taeda.mps.set_rng_state needs a mps device...
    """
    refuse("mps", "set_rng_state")
