"""Ranks tell each other plain data, or what went wrong, step by step.

Two ways lead there. A save or load in the foreground uses collectives, so that a rank that dies is
told at once. One in the background uses the group's store only: a collective there could stand
between two of the training's.
"""

from __future__ import annotations

import builtins
import contextlib
import json
import time
import traceback
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import taeda

from .._calls import purpose, purpose_told, users_line
from .._collectives import all_gather
from .._errors import DistNetworkError, DistStoreError
from .._groups.group import ProcessGroup
from .api import CheckpointException

__all__ = ["Alone", "ByCollectives", "ByStore", "Bytes", "on_all", "on_coordinator"]


_GRACE = 5.0  # seconds that rank 0 gives the others to read the last step


class Bytes(Protocol):
    """A way to give bytes to all ranks."""

    rank: int
    size: int

    def exchange(self, mine: bytes) -> Sequence[bytes]:
        """The bytes of every rank."""
        ...

    def leave(self) -> None:
        """Nothing more is exchanged by this rank, whether all went well or not."""
        ...


class Alone:
    """The way of a process without a group."""

    rank, size = 0, 1

    def exchange(self, mine: bytes) -> Sequence[bytes]:
        """One's own bytes."""
        return [mine]

    def leave(self) -> None:
        """There is nobody to wait for."""


class ByCollectives:
    """The way by collectives of a group."""

    def __init__(self, group: ProcessGroup) -> None:
        self.group, self.rank, self.size = group, group.rank(), group.size()
        self.device = "cpu" if "cpu" in group.device_types else group.device

    def exchange(self, mine: bytes) -> Sequence[bytes]:
        """The bytes of every rank: first how many, then these."""
        length = taeda.tensor([len(mine)], device=self.device)
        lengths = [taeda.empty_like(length) for _ in range(self.size)]
        all_gather(lengths, length, self.group)
        values = taeda.frombuffer(bytearray(mine), dtype=taeda.uint8).to(self.device)
        parts = [taeda.empty(int(n), dtype=taeda.uint8, device=self.device) for n in lengths]
        all_gather(parts, values, self.group)
        return [bytes(memoryview(part.cpu())) for part in parts]

    def leave(self) -> None:
        """Whoever returned from a collective needs no other rank for it."""


class ByStore:
    """The way through a group's store, which any thread may use while collectives run."""

    def __init__(self, group: ProcessGroup, name: str) -> None:
        if group.store is None:
            raise ValueError("async_save needs a group with a store; this one was made without")
        self.store, self.name, self.timeout = group.store, name, group.timeout
        self.rank, self.size, self.step = group.rank(), group.size(), 0
        self.line = users_line()

    def exchange(self, mine: bytes) -> Sequence[bytes]:
        """The bytes of every rank, or DistStoreError at the group's deadline."""
        try:
            return self._exchange(mine)
        except DistNetworkError as error:  # whoever has the store may have ended
            raise DistStoreError(f"{purpose_told()}, from {self.line}: {error}") from error

    def _exchange(self, mine: bytes) -> Sequence[bytes]:
        self.step += 1
        keys = [f"{self.name}/{self.step}/{rank}" for rank in range(self.size)]
        self.store.set(keys[self.rank], mine)
        self._wait(keys)
        parts = [self.store.get(key) for key in keys]
        if self.step > 1:  # whoever came to this step has read the one before
            self.store.delete_key(f"{self.name}/{self.step - 1}/{self.rank}")
        return parts

    def leave(self) -> None:
        """Return when all have read the last step, or after a few seconds; it clears what is left.

        Rank 0 mostly serves the store: a rank that still reads would be told that the store's
        connection broke in place of what went wrong, or well.
        """
        left = f"{self.name}/left"
        try:
            self.store.add(left, 1)
            until = time.monotonic() + _GRACE
            while self.rank == 0 and self.store.add(left, 0) < self.size:
                if time.monotonic() > until:
                    return  # somebody has ended, who is named elsewhere
                time.sleep(0.001)
            if self.rank == 0:
                for rank in range(self.size):
                    self.store.delete_key(f"{self.name}/{self.step}/{rank}")
                self.store.delete_key(left)
        except DistNetworkError:
            return  # the store has ended, and with it whoever would wait

    def _wait(self, keys: list[str]) -> None:
        try:
            self.store.wait(keys, self.timeout)
        except DistStoreError as error:
            absent = [str(rank) for rank, key in enumerate(keys) if not self.store.check([key])]
            raise DistStoreError(
                f"rank {', '.join(absent)} did not come to step {self.step} of a save in the background "
                f"({purpose_told()}, from {self.line}) within {self.timeout.total_seconds():g} s: "
                "it has ended, or does not save"
            ) from error


# ---- steps ----


def on_all(way: Bytes, what: str, work: Callable[[], Any]) -> list[Any]:
    """What `work` gives on every rank. CheckpointException on all if it raised on one."""
    own: BaseException | None = None
    try:
        message = json.dumps({"value": work()})
    except Exception as error:  # noqa: BLE001 - it is told to all ranks, and raised below
        own = error
        message = json.dumps({"error": _told(error)})
    with purpose(what):
        parts = way.exchange(message.encode())
    answers = [json.loads(part) for part in parts]
    failures = {n: _failure(a["error"]) for n, a in enumerate(answers) if "error" in a}
    if not failures:
        return [answer["value"] for answer in answers]
    if own is not None:
        failures[way.rank] = own, traceback.extract_tb(own.__traceback__)
    raise CheckpointException(what, failures) from own


def on_coordinator(way: Bytes, what: str, work: Callable[[], Any]) -> Any:
    """What `work` gives on rank 0, on all ranks."""
    return on_all(way, what, lambda: work() if way.rank == 0 else None)[0]


def _told(error: BaseException) -> dict[str, Any]:
    frames = traceback.extract_tb(error.__traceback__)
    stack = [[frame.filename, frame.lineno, frame.name, frame.line] for frame in frames]
    return {"type": type(error).__name__, "text": str(error), "stack": stack}


def _failure(told: dict[str, Any]) -> tuple[BaseException, traceback.StackSummary]:
    """An exception of another rank: of its class if that is a usual one, else a RuntimeError."""
    kind, text = getattr(builtins, told["type"], None), told["text"]
    error: BaseException = RuntimeError(f"{told['type']}: {text}")
    if isinstance(kind, type) and issubclass(kind, Exception):
        # UnicodeDecodeError and its like want more than a text
        with contextlib.suppress(TypeError):
            error = kind(text)
    stack = [traceback.FrameSummary(f, n, name, line=line) for f, n, name, line in told["stack"]]
    return error, traceback.StackSummary.from_list(stack)
