"""The real disk, where file systems do not offer everything."""

from __future__ import annotations

import errno
import fcntl
import os

import pytest

from taeda._io import disk
from taeda._io.atomic import atomic_write


@pytest.mark.parametrize("number", [errno.EINVAL, errno.ENOTSUP])
def test_a_folder_that_cannot_be_synced_is_done_without(tmp_path, monkeypatch, number):
    real = os.fsync

    def fsync(descriptor):
        if os.path.isdir(f"/proc/self/fd/{descriptor}"):
            raise OSError(number, "not here")
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    with atomic_write(tmp_path / "a", sync="full") as file:
        file.write(b"new")
    assert (tmp_path / "a").read_bytes() == b"new"


def test_a_file_system_without_locks_is_done_without(tmp_path, monkeypatch):
    def flock(descriptor, kind):
        raise OSError(errno.ENOLCK, "no locks")

    monkeypatch.setattr(fcntl, "flock", flock)
    (tmp_path / ".taeda-00.partial").write_bytes(b"perhaps somebody's")
    with atomic_write(tmp_path / "a") as file:
        file.write(b"new")
    assert sorted(os.listdir(tmp_path)) == [".taeda-00.partial", "a"]


def test_another_disk_is_used_inside_the_block_only():
    class Other(disk.Disk):
        pass

    with disk.replaced(Other()):
        assert type(disk.current()) is Other
    assert type(disk.current()) is disk.Disk
