"""Profiles of Metal: none, as there is none. `taeda.profiler` records what the processor does."""

from __future__ import annotations

from typing import NoReturn

from taeda._torch_names.absent_device import refuse

__all__ = [
    "is_capturing_metal",
    "is_metal_capture_enabled",
    "metal_capture",
    "profile",
    "start",
    "stop",
]


def is_metal_capture_enabled() -> bool:
    """False.

    >>> taeda.mps.profiler.is_metal_capture_enabled()
    False
    """
    return False


def is_capturing_metal() -> bool:
    """False.

    >>> taeda.mps.profiler.is_capturing_metal()
    False
    """
    return False


def metal_capture(fname: str) -> NoReturn:
    """RuntimeError: there is nothing to capture.

    >>> taeda.mps.profiler.metal_capture("steps.gputrace")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    RuntimeError: taeda.mps.profiler.metal_capture needs a mps device...
    """
    refuse("mps", "profiler.metal_capture")


def profile(mode: str = "interval", wait_until_completed: bool = False) -> NoReturn:
    """RuntimeError: there is nothing to record.

    >>> taeda.mps.profiler.profile()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    RuntimeError: taeda.mps.profiler.profile needs a mps device...
    """
    refuse("mps", "profiler.profile")


def start(mode: str = "interval", wait_until_completed: bool = False) -> None:
    """RuntimeError: there is nothing to record.

    >>> taeda.mps.profiler.start()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    RuntimeError: taeda.mps.profiler.start needs a mps device...
    """
    refuse("mps", "profiler.start")


def stop() -> None:
    """RuntimeError: nothing is being recorded.

    >>> taeda.mps.profiler.stop()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    RuntimeError: taeda.mps.profiler.stop needs a mps device...
    """
    refuse("mps", "profiler.stop")
