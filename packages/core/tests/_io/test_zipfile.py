"""Archives are read strictly: what other writers make is read, what is ambiguous is refused."""

from __future__ import annotations

import io
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
