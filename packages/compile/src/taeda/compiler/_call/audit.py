"""Audits: a graph that is in use is proved again, at calls that become rare.

At call 10, 30, 100, 300, ... of a graph the program runs as it is written, and the graph runs on
copies of what it writes. Results, what is written, gradients and the state of generators must be
equal in every bit, and the program must not have changed an object of Python that it reads: a graph
would not.

`TAEDA_COMPILE_AUDIT` is "always", "never", or a number: every so many calls.
"""

from __future__ import annotations

import collections
import os
from collections.abc import Iterable
from typing import Any

import taeda
from taeda import Tensor

from .._kinds import CONTAINERS, is_library, is_plain_instance
from .._replay.trace import Trace

__all__ = [
    "Effects",
    "first_audit",
    "fits_in_memory",
    "is_due",
    "may_wait",
    "next_audit",
    "rate_of",
]

NEVER = 1 << 62
PAID = 1000  # from this run on audits keep to their share of the time
TIME = 0.005
SHARE = 0.1  # of the memory of a device, for copies
MOST = 20_000  # entries of Python objects that are compared


def rate_of(text: str) -> int | None:
    """The number of calls from one audit to the next; None for the usual, rarer and rarer ones.

    >>> rate_of("always"), rate_of("50"), rate_of("")
    (1, 50, None)
    """
    if text in ("", "always", "never"):
        return {"": None, "always": 1, "never": NEVER}[text]
    if not (text.isascii() and text.isdecimal() and int(text) > 0):
        raise ValueError(
            f"TAEDA_COMPILE_AUDIT is 'always', 'never', or a number of calls, got {text!r:.40}"
        )
    return int(text)


rate = rate_of(os.environ.get("TAEDA_COMPILE_AUDIT", ""))


def first_audit() -> int:
    """Which run of a graph is audited first."""
    return 10 if rate is None else rate


def next_audit(number: int) -> int:
    """Which run is audited after this one: 30 after 10, 100 after 30, and so on.

    >>> [next_audit(n) for n in (10, 30, 100)]
    [30, 100, 300]
    """
    if rate is not None:
        return number + rate
    return number * 3 if str(number)[0] == "1" else number // 3 * 10


def may_wait() -> bool:
    """Whether an audit comes behind the calls that are timed: nobody asked for a certain rate."""
    return rate is None


def is_due(trace: Trace, now: float) -> bool:
    """Whether an audit may take place: the later ones wait until all of them, one more included,
    take a small share of the time since the graph came into use.
    """
    if rate is not None or trace.runs < PAID:
        return True
    spent = sum(trace.audits) + max(trace.audits, default=0.0)
    return spent <= TIME * (now - trace.in_use_since)


def fits_in_memory(trace: Trace, tensors: list[Tensor]) -> bool:
    """Whether copies of what the graph writes take a small share of the memory."""
    inputs = trace.inputs(tensors)
    if inputs is None:
        return True  # nothing will run
    needed: dict[str, int] = collections.Counter()
    for tensor in trace.changed(inputs):
        needed[tensor.device.type] += tensor.nbytes
    return all(count <= SHARE * _memory(device) for device, count in needed.items())


def _memory(device: str) -> int:
    if device == "cuda":
        return int(taeda.cuda.get_device_properties().total_memory)
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


class Effects:
    """What objects of Python hold, to be asked later whether they still do."""

    def __init__(self, objects: Iterable[Any]) -> None:
        self._kept: list[tuple[Any, Any]] = []
        left = MOST
        for value in objects:
            held = _held(value)
            left -= 0 if held is None else len(held)
            if held is not None and left > 0:
                self._kept.append((value, held))

    def changed(self) -> str:
        """What kind of object has changed; "" if none has."""
        for value, held in self._kept:
            found = _held(value)
            same = found is not None and len(found) == len(held)
            if not same or any(a is not b for a, b in zip(found or (), held, strict=False)):
                return type(value).__name__
        return ""


def _held(value: Any) -> list[Any] | None:
    if isinstance(value, dict):
        return [*value, *value.values()]
    if isinstance(value, CONTAINERS):
        return [*iter(value)]  # type: ignore[call-overload]  # all of them can be walked
    if is_plain_instance(value) and not is_library(type(value).__module__):
        table = getattr(value, "__dict__", {})
        return [*table, *table.values()]
    return None
