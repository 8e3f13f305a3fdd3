"""Tar archives, read strictly; Python's tarfile writes them."""

from __future__ import annotations

import io
import tarfile

import pytest

from taeda._io.safetensors import FormatError
from taeda._io.source import FileSource
from taeda._io.tar import read_members


def packed(*members, format=tarfile.PAX_FORMAT):
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=format) as archive:
        for name, data, kind in members:
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = kind, "target" if kind == tarfile.SYMTYPE else ""
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return file.getvalue()


def read(data):
    return read_members(FileSource(io.BytesIO(data), 0, len(data)))


def plain(name, data=b"abc"):
    return name, data, tarfile.REGTYPE


@pytest.mark.parametrize("format", [tarfile.PAX_FORMAT, tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT])
def test_members_lie_where_they_say(format):
    files = {"a": b"x" * 600, "b.c-d_e@f": b"", "./g": b"12"}
    folder = ("h/", b"", tarfile.DIRTYPE)
    data = packed(*(plain(*item) for item in files.items()), folder, format=format)
    found = read(data)
    assert [*found] == ["a", "b.c-d_e@f", "g"]
    for (begin, size), wanted in zip(found.values(), files.values(), strict=True):
        assert data[begin : begin + size] == wanted


def damaged(data, place, value):
    return data[:place] + value + data[place + len(value) :]


REFUSED = {
    "a link": (packed(("l", b"", tarfile.SYMTYPE)), "'l' is a link or a device"),
    "twice": (packed(plain("a"), plain("./a")), "two files named 'a'"),
    "a path": (packed(plain("../a")), r"a member named '\.\./a'"),
    "an absolute path": (packed(plain("/a")), "a member named '/a'"),
    "a sum": (damaged(packed(plain("a")), 0, b"z"), "damaged at byte 0: a header's checksum"),
    "cut": (packed(plain("a", b"x" * 5000))[:1024], "truncated inside its file 'a'"),
    "no end": (packed(plain("a"))[:1024], "the file is truncated"),
    "many": (packed(*(plain(f"f{n}", b"") for n in range(1001))), "more than 1000 files"),
    "noise": (b"\xff" * 1024, "checksum differs"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name):
    data, words = REFUSED[name]
    with pytest.raises(FormatError, match=words):
        read(data)
