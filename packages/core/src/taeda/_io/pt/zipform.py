"""torch's present form: a zip with `data.pkl`, the object, and `data/0`, `data/1`…, its storages.

Other records say how numbers are ordered (`byteorder`) and which version wrote the file. All stand
below one folder, or below none.
"""

from __future__ import annotations

import sys
from typing import Any

import taeda
from taeda import Tensor
from taeda._native import core as _core

from .. import safetypes, settings
from ..budget import Budget
from ..place import Place
from ..progress import Wish, progress
from ..safetensors import FormatError
from ..settings import LoadEndianness
from ..source import Source
from ..swap import swap_bytes
from ..zipfile import Record
from .context import Context
from .dryrun import check_long_pickle
from .machine import load
from .refusal import unknown_names
from .running import names_code, run_pickle
from .storages import Named, as_storage, named, nowhere

__all__ = ["is_torch", "names_in_archive", "read_archive"]

_SMALL_RECORD = 1024


def is_torch(records: dict[str, Record]) -> bool:
    """Whether torch wrote an archive with these records."""
    return any(name.rpartition("/")[2] == "data.pkl" for name in records)


def read_archive(
    source: Source,
    place: Place,
    records: dict[str, Record],
    verify: bool = True,
    wish: Wish = False,
) -> Any:
    """The object in an archive whose directory was read."""
    return _Archive(source, place, records, verify, wish).load()


def names_in_archive(source: Source, records: dict[str, Record]) -> list[str]:
    """The names that its object asks for, and that nobody allowed."""
    archive = _Archive(source, Place(None), records, verify=True, wish=False)
    return unknown_names(archive.content("data.pkl"))


class _Archive:
    def __init__(
        self, source: Source, place: Place, records: dict[str, Record], verify: bool, wish: Wish
    ) -> None:
        self.source, self.place = source, place
        self.records = _below_one_folder(records)
        summed = any(record.crc for record in records.values())  # torch may leave sums out
        self.sum = _core.crc32 if summed and verify else None
        self.swapped = _is_swapped(self.small("byteorder") if "byteorder" in self.records else None)
        self.storages: dict[str, Tensor] = {}
        total = sum(record.nbytes for record in records.values())
        self.advance = progress(wish, f"loading {source.name}", total)

    def load(self) -> Any:
        data = self.content("data.pkl")
        if not safetypes.trusted():
            check_long_pickle(data, self.source.size)
        self.budget = Budget(self.source.size, len(data))
        context = Context(self.budget, self.place, self.storage)
        if safetypes.trusted() and names_code(data):
            return run_pickle(data, context)
        return load(data, context)

    def record(self, name: str) -> Record:
        found = self.records.get(name)
        if found is None:
            raise FormatError(f"the archive has no record {name!r:.100}, which its object needs")
        if found.deflated:
            raise FormatError(
                f"record {name!r} is compressed, and torch never does that: unpack the archive and "
                "pack it again without compression (`zip -0`)"
            )
        return found

    def content(self, name: str) -> bytes:
        record = self.record(name)
        data = self.source.read(record.begin, record.nbytes)
        self.check_sum(name, record, self.sum and self.sum(data))
        return data

    def small(self, name: str) -> bytes:
        if self.record(name).nbytes > _SMALL_RECORD:
            raise FormatError(f"record {name!r} has {self.record(name).nbytes} bytes")
        return self.content(name)

    def check_sum(self, name: str, record: Record, sum: int | None) -> None:
        if self.sum is not None and sum != record.crc:
            raise FormatError(f"record {name!r} is damaged: its checksum differs")

    def storage(self, identity: Any) -> Any:
        """The storage that an identity in the pickle names; the same one for the same key."""
        told, _ = named(identity, 5)
        name = f"data/{told.key}"
        record = self.record(name)
        if record.nbytes != told.nbytes:
            raise FormatError(
                f"storage {told.key!r:.50} is said to have {told.count} elements, {told.nbytes} bytes, "
                f"and its record has {record.nbytes}"
            )
        if told.key not in self.storages:
            self.storages[told.key] = self.read(name, record, told)
        return as_storage(self.storages[told.key], told.kind)

    def read(self, name: str, record: Record, told: Named) -> Tensor:
        if self.place.is_meta(told.location):
            return nowhere(record.nbytes)
        self.budget.spend(0 if self.source.mapped else record.nbytes)
        if settings.skips_data.get():
            return taeda.zeros(record.nbytes, dtype=taeda.uint8)
        data, sum = self.source.tensor(record.begin, record.nbytes, self.sum)
        self.check_sum(name, record, sum)
        self.advance(record.nbytes)
        if self.swapped and told.kind.dtype is None and record.nbytes:
            raise FormatError(
                f"storage {told.key!r} has no dtype, so its bytes cannot be put in this machine's order"
            )
        if self.swapped and record.nbytes:
            data = swap_bytes(data, told.kind.dtype)
        return self.place.moved(data, told.location)


def _is_swapped(order: bytes | None) -> bool:
    """Whether numbers have to be swapped; torch marks their order since 2.1, before it was little-endian."""
    if order not in (None, b"little", b"big"):
        raise FormatError(f"the file's order of bytes is {order!r:.40}, wanted little or big")
    if order is None:
        assumed = settings.load.endianness
        if assumed is LoadEndianness.NATIVE:
            return False
        order = b"big" if assumed is LoadEndianness.BIG else b"little"
    return order.decode() != sys.byteorder


def _below_one_folder(records: dict[str, Record]) -> dict[str, Record]:
    """The records by their names below the folder that holds them all."""
    pickles = [name for name in records if name.rpartition("/")[2] == "data.pkl"]
    if len(pickles) != 1:
        raise FormatError(f"the archive has {len(pickles)} records named data.pkl, wanted one")
    folder = pickles[0].removesuffix("data.pkl")
    if strange := next((name for name in records if not name.startswith(folder)), None):
        raise FormatError(
            f"record {strange!r:.200} does not lie in the folder of the others, {folder!r:.100}"
        )
    below = {name.removeprefix(folder): record for name, record in records.items()}
    if "constants.pkl" in below or any(name.startswith("code/") for name in below):
        raise FormatError(
            "this is a TorchScript archive, a program: save the module's state_dict() with "
            "torch.save where torch is installed"
        )
    return below
