"""The records of an archive, none of which is trusted."""

from __future__ import annotations

import json
import zlib
from typing import Any

from taeda._core_api.files import FormatError, Record, read_directory

__all__ = ["Archive"]

LARGEST = 1 << 28  # bytes of a record that is read at once
#: how archives are written that are read here: numbers of others would be other ones
_WRITTEN_AS = {"byteorder": b"little", "archive_version": b"0"}
#: the program in archives without folders
_OLD_LAYOUT = "serialized_exported_program.json"


class Archive:
    """The records of an open file, under the one folder that all of them lie in."""

    def __init__(self, source: Any) -> None:
        self.source = source
        self.records: dict[str, Record] = {}
        roots = set()
        for name, record in read_directory(source).items():
            root, _, rest = name.partition("/")
            roots.add(root)
            self.records[rest] = record
        if _OLD_LAYOUT in roots | self.records.keys():
            raise FormatError(
                "the file is an archive of PyTorch 2.7 or older, whose weights are pickled: load it "
                "there, and save it with PyTorch 2.13"
            )
        if len(roots) != 1 or self.get("archive_format", 100) != b"pt2":
            raise FormatError(
                "the file is no archive of an exported program: no 'pt2' in it says so"
            )
        for name, wanted in _WRITTEN_AS.items():
            if name in self.records and (found := self.get(name, 100)) != wanted:
                raise FormatError(f"the file has {name} {found!r}; {wanted!r} is read here")

    def get(self, name: str, limit: int = LARGEST) -> bytes | None:
        """The bytes of a record; None if there is none."""
        record = self.records.get(name)
        if record is None:
            return None
        if record.deflated or record.nbytes > limit:
            raise FormatError(f"the record {name} is compressed or too large")
        found: bytes = self.source.read(record.begin, record.nbytes)
        if zlib.crc32(found) != record.crc:
            raise FormatError(f"the record {name} is damaged: its checksum is another one")
        return found

    def document(self, name: str) -> Any:
        """A record of JSON."""
        found = self.get(name)
        if found is None:
            raise FormatError(f"the file has no record {name}")
        try:
            return json.loads(found)
        except (ValueError, RecursionError) as error:
            raise FormatError(f"the record {name} is no JSON: {error}") from None
