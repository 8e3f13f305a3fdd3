"""torch's form before 1.6: pickles one after another, then the storages.

    number 0x1950a86a20f9469cfc6c | protocol 1001 | facts about the writer | the object | keys
    for each key: the number of elements (8 bytes), the elements, little-endian

The object names its storages before their bytes come, so they are made first, within what the file
can hold, and filled at the end.
"""

from __future__ import annotations

import sys
from typing import Any

import taeda
from taeda import Tensor

from ..budget import Budget
from ..place import Place
from ..safetensors import FormatError
from ..source import FileSource
from ..swap import swap_bytes
from .context import Context, StorageType
from .dryrun import check_long_pickles
from .errors import RefusedPickle, TruncatedPickle
from .machine import Machine
from .storages import Named, as_storage, named, nowhere

__all__ = ["read_stream", "to_this_machine"]

_MAGIC, _PROTOCOL = 0x1950A86A20F9469CFC6C, 1001
_WINDOW = 1 << 20


def read_stream(source: FileSource, place: Place) -> tuple[Any, int]:
    """The object in a file of this form, and where the file's part of it ends."""
    window = _WINDOW
    while True:  # where the pickles end is not told: look into more of the file, if it takes more
        data = source.read(0, min(window, source.size))
        budget = Budget(source.size, len(data))
        storages = _Storages(source, place, budget)
        machine = Machine(data, Context(budget, place, storages.named))
        try:
            made, keys = _pickles(machine, source.size)
        except TruncatedPickle:
            if window >= source.size:
                raise
            window *= 8
        else:
            return made, storages.fill(machine.at, keys)


def _pickles(machine: Machine, file_bytes: int) -> tuple[Any, list[str]]:
    if machine.load() != _MAGIC or machine.load() != _PROTOCOL:
        raise FormatError(
            "this is a pickle, not a file that torch wrote: loading one would run code. Load it where "
            "it was made, and save tensors, numbers and texts"
        )
    machine.load()  # facts about the writer, of which none matters: the order of bytes is fixed
    check_long_pickles(machine.data, machine.at, 2, file_bytes)
    made = machine.load()
    keys = machine.load()
    if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys):
        raise RefusedPickle("the keys of the storages are no list of texts")
    return made, keys


class _Storages:
    def __init__(self, source: FileSource, place: Place, budget: Budget) -> None:
        self.source, self.place, self.budget = source, place, budget
        self.left = source.size
        self.made: dict[str, tuple[Named, Tensor]] = {}

    def named(self, identity: Any) -> Any:
        told, [view] = named(identity, 6)
        known, bytes = self.made.get(told.key) or self.make(told)
        if (known.kind, known.count) != (told.kind, told.count):
            raise FormatError(f"storage {told.key!r:.50} is described in two ways")
        return as_storage(bytes if view is None else self.part(told, bytes, view), told.kind)

    def make(self, told: Named) -> tuple[Named, Tensor]:
        self.left -= told.nbytes
        if self.left < 0:
            raise FormatError(
                f"storage {told.key!r:.50} is said to have {told.count} elements: with the others, "
                "more than the file has bytes"
            )
        self.budget.spend(told.nbytes)
        if self.place.is_meta(told.location):
            bytes = nowhere(told.nbytes)
        else:
            bytes = taeda.empty(told.nbytes, dtype=taeda.uint8)
            bytes = self.place.moved(bytes, told.location)
        self.made[told.key] = told, bytes
        return told, bytes

    def part(self, told: Named, bytes: Tensor, view: Any) -> Tensor:
        """(key, offset, count) of a storage that was part of another."""
        if not isinstance(view, tuple) or [type(value) for value in view] != [str, int, int]:
            raise RefusedPickle("a part of a storage is named by its key, offset and length")
        _, offset, count = view
        if offset < 0 or count < 0 or offset + count > told.count:
            raise FormatError(
                f"elements {offset} to {offset + count} of storage {told.key!r:.50} are named, and it "
                f"has {told.count}"
            )
        item = told.nbytes // told.count if told.count else 1
        return bytes[offset * item : (offset + count) * item]

    def fill(self, at: int, keys: list[str]) -> int:
        """Read the storages from byte `at` on. Returns where they end."""
        if sorted(keys) != sorted(self.made):
            raise FormatError("the storages in the file are not those that its object names")
        for key in keys:
            told, bytes = self.made[key]
            at = _read_count(self.source, at, told)
            if not bytes.is_meta:
                self.source.fill(at, bytes)
                to_this_machine(bytes, told.kind)
            at += told.nbytes
        if at > self.source.size:
            raise FormatError(f"the file is truncated: {at} bytes are wanted")
        return at


def _read_count(source: FileSource, at: int, told: Named) -> int:
    """Check the number of elements that stands before a storage. Returns where its bytes begin."""
    count = int.from_bytes(source.read(at, 8), "little")
    if count != told.count:
        raise FormatError(
            f"storage {told.key!r:.50} is said to have {told.count} elements, and has {count} in the file"
        )
    return at + 8


def to_this_machine(bytes: Tensor, kind: StorageType) -> None:
    """Put little-endian numbers into the order of this machine, in place."""
    if sys.byteorder == "big" and kind.dtype is not None:
        bytes.copy_(swap_bytes(bytes, kind.dtype))
