"""Files are written in one way, in the real packages and in snippets made for the purpose."""

from __future__ import annotations

import by_path
import pytest

writes = by_path.load("tools/hold/writes.py")
workspace = by_path.load("tools/packages.py")


def test_the_packages_write_in_one_way():
    assert writes.check(workspace.load().values()) == []


CAUGHT = [
    'open(path, "wb")',
    'open(path, mode="a")',
    'open(path, "r+b" if shared else "rb")',
    'path.open("w")',
    'io.open(path, "xb")',
    "os.open(path, os.O_RDWR | os.O_CREAT)",
    'os.fdopen(fd, "wb")',
    "open(path, mode)",
    "os.open(path, flags)",
    "path.write_bytes(data)",
    "folder.joinpath(name).write_text(text)",
    "np.save(path, array)",
    "array.tofile(path)",
    'zipfile.ZipFile(path, "w")',
]
FREE = [
    "open(path)",
    'open(path, "rb", buffering=0)',
    'path.open("r")',
    "os.open(path, os.O_RDONLY)",
    "taeda.save(state, path)",
    'open(path, "wb")  # half-written: a cache that is checked when it is read',
    '# half-written: a cache\n# that is checked\nopen(path, "wb")',
    'with atomic_write(path) as file:\n    file.write(b"")',
]


@pytest.mark.parametrize("text", CAUGHT)
def test_writes_are_found(text):
    assert [line for line, _ in writes.writes(text)] == [1]


@pytest.mark.parametrize("text", FREE)
def test_other_calls_are_not(text):
    assert list(writes.writes(text)) == []


def test_a_mark_above_another_line_allows_nothing():
    text = '# half-written: a cache\nx = 1\nopen(path, "wb")'
    assert [line for line, _ in writes.writes(text)] == [3]
