"""Zip archives, read strictly: what could mean one thing to us and another to someone else is refused.

    local header, name, extra | data | descriptor?    for each record, without hole or overlap
    central directory: a header for each record, in the order of the file
    end of the directory, with or without its zip64 form, at the very end of the file

Both headers of a record must agree, names must be plain and unique, nothing is encrypted. Records
are stored as they are; deflated ones are told by `Record.deflated`, and the caller decides.
"""

from __future__ import annotations

import stat
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from .safetensors import FormatError
from .source import Source

__all__ = ["MOST_RECORDS", "Record", "read_directory"]

_LOCAL = struct.Struct("<4s5H3I2H")
_CENTRAL = struct.Struct("<4s6H3I5H2I")
_END = struct.Struct("<4s4H2IH")
_END64 = struct.Struct("<4sQ2H2I4Q")
_LOCATOR = struct.Struct("<4sIQI")
_ALL32, _ALL16 = 0xFFFFFFFF, 0xFFFF
_DESCRIPTOR, _UTF8 = 0x0008, 0x0800  # the flags that may be set
_STORED, _DEFLATED = 0, 8
_ZIP64 = 0x0001
#: extra fields that change nothing: torch's padding, and times
_HARMLESS = {0x4246, 0x5455, 0x7875}
MOST_RECORDS = 100_000
_NAME = 1024


@dataclass(frozen=True)
class Record:
    """One file in the archive, and where its bytes lie."""

    name: str
    begin: int
    stored: int  # bytes in the archive
    nbytes: int  # bytes of the content
    crc: int
    deflated: bool


@dataclass(frozen=True)
class _Told:
    """What the central directory says of a record."""

    name: bytes
    flags: int
    method: int
    crc: int
    stored: int
    nbytes: int
    position: int


def read_directory(source: Source) -> dict[str, Record]:
    """The records of an archive, in its order. FormatError says what is wrong with it."""
    count, size, position = _end(source)
    told = sorted(_central(source.read(position, size), count), key=lambda t: t.position)
    records: dict[str, Record] = {}
    here = 0
    for entry in told:
        record, after = _record(source, entry, here, position)
        if record.name in records:
            raise FormatError(f"the archive has two records named {record.name!r:.200}")
        records[record.name] = record
        here = after
    if here != position:
        raise FormatError(
            f"the archive has {position - here} bytes that belong to no record, from byte {here} on"
        )
    return records


# ---- the end of the file ----


def _end(source: Source) -> tuple[int, int, int]:
    """How many records there are, and size and position of the central directory."""
    if source.size < _END.size:
        raise FormatError(f"the archive is truncated: {source.size} bytes")
    at = source.size - _END.size
    mark, disk, disk2, here, count, size, position, comment = _END.unpack(
        source.read(at, _END.size)
    )
    if mark != b"PK\x05\x06" or comment:
        raise FormatError(
            "the archive is truncated, or something follows it: the mark of its end is not where the file "
            "ends. Copy or download the file again"
        )
    found = _end64(source, at)
    if found is None and (count == _ALL16 or _ALL32 in (size, position)):
        raise FormatError("the archive's directory needs the zip64 form, and has none")
    if found is not None:
        small = ((count, _ALL16), (size, _ALL32), (position, _ALL32))
        for (value, unset), big in zip(small, found[:3], strict=True):
            if value not in (unset, big):
                raise FormatError("the archive's two directory ends contradict each other")
        count, size, position, at = found
    if disk or disk2 or here not in (count, _ALL16):
        raise FormatError("the archive says that it spans several disks")
    if position + size != at:
        raise FormatError(
            f"the archive's directory is said to be {size} bytes from byte {position} on, and must "
            f"end at byte {at}"
        )
    if count > MOST_RECORDS or count * _CENTRAL.size > size:
        raise FormatError(
            f"the archive claims {count} records in {size} bytes of directory; {MOST_RECORDS} are the "
            "most that are read"
        )
    return count, size, position


def _end64(source: Source, at: int) -> tuple[int, int, int, int] | None:
    """The zip64 end before the plain one, if there is one: count, size, position, and where it lies."""
    if at < _LOCATOR.size:
        return None
    mark, disk, position, disks = _LOCATOR.unpack(source.read(at - _LOCATOR.size, _LOCATOR.size))
    if mark != b"PK\x06\x07":
        return None
    wanted = at - _LOCATOR.size - _END64.size
    if disk or disks != 1 or position != wanted or wanted < 0:
        raise FormatError(
            f"the archive's zip64 end is said to be at byte {position}, and is at byte {wanted}: "
            "it is damaged, or "
            "was written behind something else (a file or stream holds one saved object)"
        )
    fields = _END64.unpack(source.read(position, _END64.size))
    mark, length, _, _, disk, disk2, here, count, size, start = fields
    if mark != b"PK\x06\x06" or length != _END64.size - 12 or disk or disk2 or here != count:
        raise FormatError("the archive's zip64 end is damaged")
    return count, size, start, position


# ---- records ----


def _central(data: bytes, count: int) -> Iterator[_Told]:
    at = 0
    for number in range(count):
        if at + _CENTRAL.size > len(data):
            raise FormatError(f"the archive's directory ends before its record {number}")
        fields = _CENTRAL.unpack_from(data, at)
        mark, _, _, flags, method, _, _, crc, stored, nbytes, named, extra, comment, disk = fields[
            :14
        ]
        attributes, position = fields[15], fields[16]
        at += _CENTRAL.size
        name, tail = data[at : at + named], data[at + named : at + named + extra]
        at += named + extra
        if mark != b"PK\x01\x02" or comment or at > len(data):
            raise FormatError(f"the archive's directory is damaged at its record {number}")
        wide = _wide(tail, (nbytes, stored, position), name)
        nbytes, stored, position = wide
        if disk or stat.S_IFMT(attributes >> 16) not in (0, stat.S_IFREG):
            raise FormatError(f"record {_shown(name)} is a link, a folder, or on another disk")
        yield _Told(name, flags, method, crc, stored, nbytes, position)
    if at != len(data):
        raise FormatError(f"the archive's directory has {len(data) - at} bytes too many")


def _wide(extra: bytes, values: tuple[int, ...], name: bytes) -> list[int]:
    """The values, with those that are all ones taken from the zip64 field.

    Python before 3.11.4 may write both: the values, and a field that repeats them.
    """
    fields = _extra(extra, name)
    body = fields.get(_ZIP64, b"")
    made, at = [], 0
    for value in values:
        if value == _ALL32:
            if at + 8 > len(body):
                raise FormatError(f"record {_shown(name)} lacks its zip64 sizes")
            value = int.from_bytes(body[at : at + 8], "little")
            at += 8
        made.append(value)
    repeated = b"".join(value.to_bytes(8, "little") for value in values)
    if at != len(body) and body != repeated:
        raise FormatError(f"record {_shown(name)} has zip64 sizes that it does not need")
    return made


def _extra(data: bytes, name: bytes) -> dict[int, bytes]:
    fields: dict[int, bytes] = {}
    at = 0
    while at < len(data):
        if at + 4 > len(data):
            raise FormatError(f"record {_shown(name)} has a damaged extra field")
        kind, size = struct.unpack_from("<2H", data, at)
        at += 4
        if at + size > len(data) or kind in fields:
            raise FormatError(f"record {_shown(name)} has a damaged extra field")
        if kind != _ZIP64 and kind not in _HARMLESS:
            raise FormatError(f"record {_shown(name)} has an extra field of kind {kind:#06x}")
        fields[kind] = data[at : at + size]
        at += size
    return fields


def _record(source: Source, told: _Told, here: int, end: int) -> tuple[Record, int]:
    """A record whose local header agrees with the directory, and where the next one begins."""
    name = _plain_name(told)
    if told.position != here:
        kind = "overlaps the one before it" if told.position < here else "leaves a hole"
        raise FormatError(f"record {name!r} {kind}: begins at byte {told.position}, not at {here}")
    fields = _LOCAL.unpack(source.read(here, _LOCAL.size))
    mark, _, flags, method, _, _, crc, stored, nbytes, named, extra = fields
    tail = source.read(here + _LOCAL.size, named + extra)
    begin = here + _LOCAL.size + named + extra
    after = begin + told.stored
    if after > end:
        raise FormatError(f"record {name!r} of {told.stored} bytes reaches into the directory")
    told_here = (flags, method, tail[:named])
    if mark != b"PK\x03\x04" or told_here != (told.flags, told.method, told.name):
        raise FormatError(f"record {name!r}: its own header contradicts the archive's directory")
    later = flags & _DESCRIPTOR and (crc, stored, nbytes) in ((0, 0, 0), (0, _ALL32, _ALL32))
    if later:
        _extra(tail[named:], told.name)
        after += _descriptor(source, told, after)
    elif (crc, *_wide(tail[named:], (nbytes, stored), told.name)) != (
        told.crc,
        told.nbytes,
        told.stored,
    ):
        raise FormatError(f"record {name!r}: its own header contradicts the archive's directory")
    elif flags & _DESCRIPTOR:
        after += _descriptor(source, told, after)
    deflated = told.method == _DEFLATED
    return Record(name, begin, told.stored, told.nbytes, told.crc, deflated), after


def _descriptor(source: Source, told: _Told, at: int) -> int:
    """The length of what follows a record whose header was written before its sizes were known."""
    sizes = (told.crc, told.stored, told.nbytes)
    given = source.read(at, min(24, source.size - at))
    for form in ("<4sI2Q", "<4s3I"):
        size = struct.calcsize(form)
        fits = form == "<4sI2Q" or max(sizes) <= _ALL32
        if fits and given[:size] == struct.pack(form, b"PK\x07\x08", *sizes):
            return size
    raise FormatError(
        f"record {_shown(told.name)}: what follows its data contradicts the directory"
    )


def _plain_name(told: _Told) -> str:
    shown = _shown(told.name)
    if told.flags & ~(_DESCRIPTOR | _UTF8):
        raise FormatError(f"record {shown} is encrypted or has flags that are not known")
    if told.method not in (_STORED, _DEFLATED):
        raise FormatError(f"record {shown} is compressed by method {told.method}")
    if told.method == _STORED and told.stored != told.nbytes:
        raise FormatError(
            f"record {shown} is stored as it is, but has {told.stored} bytes for {told.nbytes}"
        )
    try:
        name = told.name.decode("utf-8" if told.flags & _UTF8 else "ascii")
    except UnicodeDecodeError:
        raise FormatError(f"record {shown} has a name that is no text") from None
    parts = name.split("/")
    if not name or len(name) > _NAME or any(part in ("", ".", "..") for part in parts):
        raise FormatError(f"record {shown} has a name that leaves the archive, or none")
    if "\\" in name or ":" in name or not name.isprintable():
        raise FormatError(f"record {shown} has a name with characters that mean a path elsewhere")
    return name


def _shown(name: bytes) -> str:
    return repr(name.decode("utf-8", "backslashreplace"))[:200]
