"""Marks in the work of Metal: none, as there is none."""

from __future__ import annotations

from taeda._torch_names.absent_device import AbsentEvent

__all__ = ["Event"]


class Event(AbsentEvent):
    """RuntimeError: there is no device whose work could be marked.

    >>> taeda.mps.event.Event(enable_timing=True)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    RuntimeError: taeda.mps.Event needs a mps device...
    """

    kind = "mps"
