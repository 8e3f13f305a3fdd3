"""Archives are read strictly: what other writers make is read, what is ambiguous is refused."""

from __future__ import annotations

import io
import struct
import zipfile

import pytest

from taeda._io.safetensors import FormatError
from taeda._io.source import FileSource
from taeda._io.zipfile import read_directory


def packed(entries, compression=zipfile.ZIP_STORED, force_zip64=False, stream=False, comment=b""):
    file = io.BytesIO()
    out = Pipe(file) if stream else file
    with zipfile.ZipFile(out, "w", compression) as archive:
        archive.comment = comment
        for name, data in entries:
            with archive.open(name, "w", force_zip64=force_zip64) as record:
                record.write(data)
    return file.getvalue()


class Pipe(io.RawIOBase):
    """A file that cannot go back: sizes are written after the data."""

    def __init__(self, file):
        self.file = file

    def writable(self):
        return True

    def write(self, data):
        return self.file.write(data)


def directory(data):
    return read_directory(FileSource(io.BytesIO(data), 0, len(data)))


ENTRIES = [("a/one", b"x" * 100), ("a/two", b""), ("a/é", b"y" * 7)]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("force_zip64", [False, True])
@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_what_python_writes(compression, force_zip64, stream):
    data = packed(ENTRIES, compression, force_zip64, stream)
    records = directory(data)
    assert list(records) == [name for name, _ in ENTRIES]
    for name, content in ENTRIES:
        record = records[name]
        assert record.nbytes == len(content)
        assert record.deflated == (compression == zipfile.ZIP_DEFLATED)
        if not record.deflated:
            assert data[record.begin : record.begin + record.stored] == content


def repeated(sizes):
    """A record as Python 3.11.2 writes it with `force_zip64`: its sizes, and a field that repeats them."""
    data, fields = packed([("a", b"x" * 100)]), struct.pack("<2H2Q", 1, 16, *sizes)
    begin = data.index(b"x" * 100)
    header = data[:28] + struct.pack("<H", len(fields)) + data[30:begin] + fields
    place = len(data) - 6  # of the directory's own place, in the end of the archive
    moved = struct.pack("<I", struct.unpack_from("<I", data, place)[0] + len(fields))
    return header + data[begin:place] + moved + data[place + 4 :]


def test_sizes_that_are_told_twice():
    assert directory(repeated((100, 100)))["a"].nbytes == 100
    for other in ((100, 101), (0, 100)):
        with pytest.raises(FormatError, match="zip64 sizes that it does not need"):
            directory(repeated(other))


def test_nothing_in_it():
    assert directory(packed([])) == {}


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_one_name_twice():
    with pytest.raises(FormatError, match="two records named 'a'"):
        directory(packed([("a", b"1"), ("a", b"2")]))


GOOD = packed(ENTRIES)
REFUSED = {
    "a comment": (packed(ENTRIES, comment=b"hello"), "something follows it"),
    "bytes behind": (GOOD + b"x", "something follows it"),
    "bytes in front": (b"x" + GOOD, "must end at byte"),
    "cut": (GOOD[:-1], "truncated"),
    "very short": (GOOD[:10], "truncated: 10 bytes"),
    "a path upwards": (packed([("a/../b", b"")]), "leaves the archive"),
    "an absolute path": (packed([("/a", b"")]), "leaves the archive"),
    "a drive": (packed([("C:a", b"")]), "a path elsewhere"),
    "another method": (packed(ENTRIES, zipfile.ZIP_BZIP2), "compressed by method 12"),
    "names that differ": (
        GOOD.replace(b"a/one", b"a/ONE", 1),
        "contradicts the archive's directory",
    ),
    "sizes that differ": (
        GOOD.replace((100).to_bytes(4, "little") * 2, (99).to_bytes(4, "little") * 2, 1),
        "contradicts the archive's directory",
    ),
    "encryption": (GOOD.replace(b"PK\3\4\x14\0\0\0", b"PK\3\4\x14\0\1\0"), "contradicts|encrypted"),
}


@pytest.mark.parametrize(("data", "message"), REFUSED.values(), ids=REFUSED)
def test_refused(data, message):
    with pytest.raises(FormatError, match=message):
        directory(data)


def test_two_archives_in_one_place():
    inner = packed([("inner", b"1")])
    outer = packed([("outer", b"2")], comment=inner)
    with pytest.raises(FormatError):
        directory(outer)


# ---- directories that no writer makes ----

CENTRAL, LOCAL, END = GOOD.index(b"PK\1\2"), 0, GOOD.index(b"PK\5\6")


def put(at, value, size=2, data=GOOD):
    """The archive with another number at a place."""
    return data[:at] + value.to_bytes(size, "little") + data[at + size :]


WIDE = packed(ENTRIES, force_zip64=True)


def with_end64(**fields):
    """The archive with a zip64 end, some of whose numbers are others."""
    values = {
        "mark": b"PK\6\6", "length": 44, "made": 45, "needed": 45, "disk": 0, "disk2": 0, "here": 3,
        "count": 3,
        "size": END - CENTRAL, "start": CENTRAL,
    } | {key: value for key, value in fields.items() if key not in ("at", "disks", "plain")}  # fmt: skip
    end64 = struct.pack("<4sQ2H2I4Q", *values.values())
    locator = struct.pack("<4sIQI", b"PK\6\7", 0, fields.get("at", END), fields.get("disks", 1))
    return GOOD[:END] + end64 + locator + fields.get("plain", GOOD[END:])


def test_a_zip64_end_is_read():
    assert list(directory(with_end64())) == [name for name, _ in ENTRIES]
    unset = GOOD[END : END + 8] + b"\xff" * 12 + b"\0\0"
    assert list(directory(with_end64(plain=unset))) == [name for name, _ in ENTRIES]


ODD = {
    "zip64 of another count": (with_end64(here=4, count=4), "contradict each other"),
    "zip64 of another size": (with_end64(size=1), "contradict each other"),
    "zip64 elsewhere": (with_end64(at=0), "zip64 end is said to be at byte 0"),
    "zip64 of two disks": (with_end64(disks=2), "zip64 end is said"),
    "zip64 without its mark": (with_end64(mark=b"PK\6\5"), "zip64 end is damaged"),
    "zip64 of another length": (with_end64(length=45), "zip64 end is damaged"),
    "zip64 of another disk": (with_end64(disk=1), "zip64 end is damaged"),
    "zip64 of two counts": (with_end64(here=2), "zip64 end is damaged"),
    "no zip64 end": (put(END + 8, 0xFFFF, data=put(END + 10, 0xFFFF)), "needs the zip64 form, and has none"),
    "no zip64 size": (put(END + 12, 0xFFFFFFFF, 4), "needs the zip64 form"),
    "several disks": (put(END + 4, 1), "spans several disks"),
    "fewer here": (put(END + 8, 2), "spans several disks"),
    "the directory elsewhere": (put(END + 16, 1, 4), "must end at byte"),
    "many records": (put(END + 8, 60000, data=put(END + 10, 60000)), "claims 60000 records"),
    "one record "
    "more": (put(END + 8, 4, data=put(END + 10, 4)),
        "ends before its record 3|claims 4 records|damaged at its record"),
    "one record fewer": (put(END + 8, 2, data=put(END + 10, 2)), "bytes too many"),
    "no mark of a record": (put(CENTRAL, 0, 4), "damaged at its record 0"),
    "a comment of a record": (put(CENTRAL + 32, 1), "damaged at its record 0"),
    "a long name": (put(CENTRAL + 28, 60000), "damaged at its record 0"),
    "another disk": (put(CENTRAL + 34, 1), "a link, a folder, or on another disk"),
    "a link": (put(CENTRAL + 38, 0o120777 << 16, 4), "a link, a folder"),
    "a folder": (put(CENTRAL + 38, 0o040755 << 16, 4), "a link, a folder"),
    "all ones and no zip64": (put(CENTRAL + 24, 0xFFFFFFFF, 4), "lacks its zip64 sizes"),
    "overlap": (put(CENTRAL + 42, 1, 4), "leaves a hole|overlaps"),
    "a record into the "
    "directory": (put(CENTRAL + 20, 5000, 4, put(CENTRAL + 24, 5000, 4)), "reaches into the directory"),
    "no mark of a header": (put(LOCAL, 0, 4), "own header contradicts"),
    "another checksum": (put(LOCAL + 14, 1, 4), "own header contradicts"),
    "an unknown flag": (put(CENTRAL + 8, 0x40), "encrypted or has flags"),
    "two lengths": (put(CENTRAL + 24, 99, 4), "has 100 bytes for 99"),
    "a name that is no text": (GOOD.replace(b"a/one", b"a/\xff\xffe"), "a name that is no text"),
    "a name with a line": (packed([("a\nb", b"")]), "mean a path elsewhere"),
    "a very long name": (packed([("a" * 1025, b"")]), "leaves the archive, or none"),
    "no name": (packed([("a//b", b"")]), "leaves the archive"),
}  # fmt: skip


@pytest.mark.parametrize(("data", "message"), ODD.values(), ids=ODD)
def test_a_directory_that_is_odd_is_refused(data, message):
    with pytest.raises(FormatError, match=message):
        directory(data)


def extra(*fields):
    """An archive of one record with extra fields in both of its headers."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        entry = zipfile.ZipInfo("a")
        entry.extra = b"".join(struct.pack("<2H", kind, len(body)) + body for kind, body in fields)
        archive.writestr(entry, b"x")
    return file.getvalue()


def test_fields_that_change_nothing_are_let_be():
    assert list(directory(extra((0x4246, b"ZZZZ"), (0x5455, b"\1" * 5)))) == ["a"]


FIELDS = {
    "an unknown field": (extra((0x7075, b"x")), "an extra field of kind 0x7075"),
    "one field twice": (extra((0x4246, b""), (0x4246, b"")), "a damaged extra field"),
    "zip64 without need": (extra((0x0001, b"\0" * 8)), "zip64 sizes that it does not need"),
    "a cut field": (
        extra((0x4246, b"ZZZZ")).replace(b"FB\4\0", b"FB\5\0"),
        "a damaged extra field",
    ),
    "a cut head of a field": (
        extra((0x4246, b"ZZZZ")).replace(b"FB\4\0", b"FB\2\0"),
        "a damaged extra field",
    ),
}


@pytest.mark.parametrize(("data", "message"), FIELDS.values(), ids=FIELDS)
def test_extra_fields_that_are_refused(data, message):
    with pytest.raises(FormatError, match=message):
        directory(data)


def test_what_follows_the_data_must_agree_with_the_directory():
    data = packed(ENTRIES, stream=True)
    at = data.index(b"PK\7\x08")
    with pytest.raises(FormatError, match="what follows its data contradicts the directory"):
        directory(put(at + 4, 1, 4, data))
