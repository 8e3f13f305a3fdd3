"""One collective as a rank called it: what errors and the flight recorder tell of it."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Iterator
from functools import lru_cache
from types import FrameType
from typing import Any

__all__ = ["Call", "purpose", "purpose_told", "users_line"]

_OURS = tuple(
    os.path.join(folder, "")
    for folder in (os.path.dirname(os.path.dirname(os.path.abspath(__file__))),)
)
_BETWEEN = contextlib.__file__  # it stands between two frames of ours where one is a context


# What follows is asked by name, which keeps its hash: code objects make theirs anew each time.
@lru_cache(maxsize=10000)
def _is_ours(file: str) -> bool:
    """Is the file part of taeda, wherever its packages lie?"""
    parts = file.split(os.sep)
    installed = "taeda" in parts and "site-packages" in parts
    return (
        file == _BETWEEN
        or installed
        or file.startswith(_OURS)
        or {"taeda", "src", "packages"} <= set(parts)
    )


def users_line() -> str:
    """`file:line` of the innermost frame that is not taeda's own."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _is_ours(frame.f_code.co_filename):
        frame = frame.f_back
    return "?" if frame is None else _place(frame.f_code.co_filename, frame.f_lineno)


@lru_cache(maxsize=1000)  # a training loop calls from the same lines again and again
def _place(file: str, line: int) -> str:
    return f"{os.path.basename(file)}:{line}"


class _Purpose(threading.local):
    told = ""


_purpose = _Purpose()


@contextlib.contextmanager
def purpose(told: str) -> Iterator[None]:
    """What the collectives of this thread are for until the end, such as "gathers unit blocks.0": their
    errors say it behind the line.
    """
    before, _purpose.told = _purpose.told, told
    try:
        yield
    finally:
        _purpose.told = before


def purpose_told() -> str:
    """What collectives of this thread are for; empty where nobody said."""
    return _purpose.told


class Call:
    """A collective: its place in the order of the group, what must agree between ranks, and where it stands.

    `signature` is what every rank must have alike, `detail` what is this rank's own.
    """

    __slots__ = (
        "began",
        "brought",
        "detail",
        "ended",
        "group",
        "line",
        "name",
        "payload",
        "seq",
        "signature",
        "state",
        "wants",
    )

    def __init__(self, name: str, signature: str, detail: str = "", wants: object = None) -> None:
        self.name, self.signature, self.detail, self.wants = name, signature, detail, wants
        # values, and a reduction or None, for what is done before all meet
        self.payload: Any = None
        self.brought: Any = None  # the values of all ranks, if they come along to the meeting
        self.line = users_line()
        if _purpose.told:
            self.line = f"{self.line} ({_purpose.told})"
        self.group, self.seq, self.state = "", 0, "issued"
        self.began, self.ended = time.time(), 0.0

    def __str__(self) -> str:
        detail = f", {self.detail}" if self.detail else ""
        return f"{self.signature}{detail} at {self.line}"

    def end(self, state: str) -> None:
        """Note how it ended."""
        self.state, self.ended = state, time.time()
        self.payload = self.brought = None

    def facts(self) -> dict[str, object]:
        """For a dump of the flight recorder."""
        return {
            name: getattr(self, name)
            for name in self.__slots__
            if name not in ("wants", "payload", "brought")
        }
