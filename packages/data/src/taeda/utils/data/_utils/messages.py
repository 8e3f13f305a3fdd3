"""What a worker and its parent tell each other."""

from __future__ import annotations

import pickle
import traceback
from dataclasses import dataclass, field
from typing import Any

from . import seeds
from .luggage import Luggage

__all__ = ["BATCH", "END", "FAILURE", "Epoch", "Failure", "Reply", "Setup", "Task", "sample_name"]

BATCH, FAILURE, END = range(3)


@dataclass
class Setup:
    """All that a worker begins with."""

    channel: Any  # a socket: sockets can be sent to new processes
    id: int
    num_workers: int
    base_seed: int
    luggage: Luggage  # (data set, collate_fn, worker_init_fn)
    iterable: bool
    batched: bool
    drop_last: bool
    batch_size: int
    seed_batches: bool


@dataclass(frozen=True)
class Epoch:
    """Begin an epoch, perhaps in its middle."""

    serial: int  # a new one each time that a pass begins
    number: int
    base_seed: int
    given: int = 0  # batches of it that this worker has given already
    streams: seeds.Streams | None = None  # where its generators stood after those
    dataset: Any = None  # what the data set's own state_dict() said after those


@dataclass(frozen=True)
class Task:
    """Fetch one batch."""

    number: int
    index: Any
    returned: list[int]  # segments that are free again
    forgotten: list[int]  # segments that never will be
    may_share: bool


@dataclass(frozen=True)
class Reply:
    """What came of a task."""

    epoch: int  # its serial
    task: int
    kind: int
    data: Any  # the pickle of a batch, or how many bytes of the first segment are it, or a Failure
    # that the batch lies on: (id, bytes used)
    segments: list[tuple[int, int]] = field(default_factory=list)
    # (id, bytes) of those whose descriptors come along
    made: list[tuple[int, int]] = field(default_factory=list)
    dropped: list[int] = field(default_factory=list)  # segments that were given up
    streams: seeds.Streams | None = None  # where the generators stand, if they moved
    dataset: Any = None  # the data set's own state, if it has one
    refusal: str | None = None  # why no segment could be had


@dataclass(frozen=True)
class Failure:
    """An exception of a worker, in a form that another process can raise."""

    kind: Any
    message: str

    @classmethod
    def of(cls, error: BaseException, where: str) -> Failure:
        """The exception at hand, with where it happened and its traceback in the message."""
        text = "".join(traceback.format_exception(error))
        message = f"Caught {type(error).__name__} in {where}.\nOriginal {text}"
        try:
            pickle.dumps(type(error))
        except Exception:  # noqa: BLE001 - whatever a class does when it is pickled: it cannot travel
            return cls(RuntimeError, message)
        return cls(type(error), message)

    def reraise(self) -> None:
        """Raise it here: the same type if that takes one message, otherwise RuntimeError."""
        if issubclass(self.kind, KeyError):
            raise self.kind(_Verbatim(self.message))
        try:
            error = self.kind(self.message)
        except Exception:  # noqa: BLE001 - a constructor that wants something else
            raise RuntimeError(self.message) from None
        raise error


class _Verbatim(str):
    """A text that is its own repr: KeyError shows the repr of its argument."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def sample_name(index: Any, position: int) -> str:
    """What a message says of the sample at `position` of a batch; -1 if the batch is fetched in one."""
    if not isinstance(index, list):
        return "next sample of the stream" if index is None else f"sample {index!r}"
    if index and index[0] is None:
        return "next sample of the stream" if position < 0 else f"sample {position} of the stream"
    if 0 <= position < len(index):
        return f"sample {index[position]!r}"
    shown = ", ".join(map(repr, index[:8])) + ", ..." * (len(index) > 8)
    return f"samples [{shown}]"
