"""From what `load` is given to a source of bytes."""

from __future__ import annotations

import io
from mmap import MAP_SHARED

import pytest

from taeda._io import settings
from taeda._io.opened import opened
from taeda._io.source import FileSource, MappedSource


@pytest.fixture
def path(tmp_path):
    made = tmp_path / "x"
    made.write_bytes(b"0123456789")
    return made


@pytest.mark.parametrize("kind", [str, lambda path: path])
def test_a_path(path, kind):
    with opened(kind(path), mmap=False) as source:
        assert isinstance(source, FileSource) and source.size == 10 and source.read(2, 3) == b"234"
        file = source.file
    assert file.closed
    with opened(kind(path), mmap=True) as source:
        assert isinstance(source, MappedSource) and source.read(2, 3) == b"234"


def test_an_open_file_is_read_from_here_on_and_stays_open():
    file = io.BytesIO(b"0123456789")
    file.seek(4)
    with opened(file, mmap=False) as source:
        assert (source.size, source.read(0, 2)) == (6, b"45")
    assert not file.closed


def test_a_shared_map_writes_and_another_does_not(path, monkeypatch):
    with opened(path, mmap=True) as source:
        source.tensor(0, 1)[0][0] = ord("X")
    assert path.read_bytes()[:1] == b"0"
    monkeypatch.setattr(settings.load, "mmap_flags", MAP_SHARED)
    with opened(path, mmap=True) as source:
        source.tensor(0, 1)[0][0] = ord("X")
    assert path.read_bytes()[:1] == b"X"


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match="none"), opened(tmp_path / "none", mmap=True):
        pass
