"""A file is written whole or not at all."""

from __future__ import annotations

import errno
import io
import os
import stat
import struct
import subprocess
import sys
import threading
import time
import zipfile
from pathlib import Path
from typing import ClassVar

import pytest

from taeda._io import disk
from taeda._io.atomic import atomic_write


def test_writes_a_new_file(tmp_path):
    with atomic_write(tmp_path / "a") as file:
        file.write(b"new")
    assert (tmp_path / "a").read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["a"]


def test_an_exception_leaves_the_old_file_and_no_other(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    with pytest.raises(TypeError, match="concat"), atomic_write(path) as file:
        file.write(b"half" + 3)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a"]


def test_until_the_end_readers_see_the_old_file(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    with atomic_write(path) as file:
        file.write(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"


def test_permissions_are_kept(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(0o640)
    with atomic_write(path) as file:
        file.write(b"new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.fixture
def _umask():
    before = os.umask(0o022)
    yield
    os.umask(before)


def modes_seen(path):
    """The modes of the temporary file at each operation while `path` is replaced."""
    seen = set()

    class Looking(disk.Disk):
        def __getattribute__(self, name):
            for found in path.parent.glob(".taeda-*"):
                seen.add(stat.S_IMODE(found.stat().st_mode))
            return super().__getattribute__(name)

    with disk.replaced(Looking()), atomic_write(path) as file:
        file.write(b"new")
    return seen


@pytest.mark.usefixtures("_umask")
@pytest.mark.parametrize("mode", [0o200, 0o600, 0o640, 0o604, 0o644, 0o666, 0o777])
def test_what_is_replaced_is_never_more_readable_than_before(tmp_path, mode):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(mode)
    seen = modes_seen(path)
    assert seen
    assert all(found & ~(mode | 0o600) == 0 for found in seen)
    assert stat.S_IMODE(path.stat().st_mode) == mode


@pytest.mark.usefixtures("_umask")
def test_a_new_file_has_the_mode_of_any_new_file(tmp_path):
    assert modes_seen(tmp_path / "a") == {0o644}
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o644


def test_a_mode_that_changes_during_the_write_is_kept(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(0o644)
    with atomic_write(path) as file:
        path.chmod(0o600)
        file.write(b"new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_new_content_runs_with_nobodys_rights(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(0o6755)
    with atomic_write(path) as file:
        file.write(b"new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o755


@pytest.mark.parametrize(("mode", "left"), [(0o640, 0o600), (0o664, 0o644), (0o604, 0o604)])
def test_another_group_gets_no_more_than_everybody(tmp_path, monkeypatch, mode, left):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(mode)
    real = os.stat

    def of_another_group(found, **options):
        facts = list(real(found, **options))
        facts[stat.ST_GID] += 1
        return os.stat_result(facts)

    def fchown(descriptor, uid, gid):
        raise PermissionError(errno.EPERM, "not yours")

    monkeypatch.setattr(os, "fchown", fchown)
    monkeypatch.setattr(os, "stat", of_another_group)
    with atomic_write(path) as file:
        file.write(b"new")
    assert stat.S_IMODE(real(path).st_mode) == left


def access_list(group):
    """An access list with one named user who may read and write, and the group's own rights."""
    entries = [(1, 6, -1), (2, 6, 12345), (4, group, -1), (16, 6, -1), (32, 0, -1)]
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *entry) for entry in entries)


@pytest.mark.parametrize("kept", [True, False])
def test_an_access_list_is_kept_or_the_group_gets_nothing(tmp_path, monkeypatch, kept):
    path, given = tmp_path / "a", {}
    path.write_bytes(b"old")
    path.chmod(0o660)  # the group's bits of a file with a list are its mask

    def setxattr(descriptor, name, value):
        if not kept:
            raise OSError(errno.EPERM, "no lists")
        given[name] = value

    monkeypatch.setattr(os, "getxattr", lambda target, name: access_list(0))
    monkeypatch.setattr(os, "setxattr", setxattr)
    with atomic_write(path) as file:
        file.write(b"new")
    assert given == ({"system.posix_acl_access": access_list(0)} if kept else {})
    assert stat.S_IMODE(path.stat().st_mode) == (0o660 if kept else 0o600)


def test_a_symbolic_link_stays_and_its_target_is_replaced(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    with atomic_write(link) as file:
        file.write(b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_a_device_is_written_not_replaced():
    with atomic_write("/dev/null") as file:
        file.write(b"gone")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_a_missing_folder_is_named(tmp_path):
    with (
        pytest.raises(FileNotFoundError, match="folder to write into"),
        atomic_write(tmp_path / "no" / "a"),
    ):
        pass


def test_leftovers_of_a_killed_writer_are_removed(tmp_path):
    path = tmp_path / "a"
    program = (
        "import os, sys\n"
        "from taeda._io.atomic import atomic_write\n"
        "with atomic_write(sys.argv[1]) as file:\n"
        "    file.write(b'half')\n"
        "    os._exit(9)\n"
    )
    killed = subprocess.run([sys.executable, "-c", program, path], check=False)
    assert killed.returncode == 9
    assert len(os.listdir(tmp_path)) == 1
    assert not path.exists()
    with atomic_write(path) as file:
        file.write(b"new")
    assert os.listdir(tmp_path) == ["a"]


def test_the_file_of_a_writer_at_work_is_left_alone(tmp_path):
    path = tmp_path / "a"
    with atomic_write(path) as slow:
        slow.write(b"slow")
        with atomic_write(path) as quick:
            quick.write(b"quick")
        assert path.read_bytes() == b"quick"
    assert path.read_bytes() == b"slow"
    assert os.listdir(tmp_path) == ["a"]


def test_a_large_file_is_replaced_and_freed(tmp_path):
    path = tmp_path / "a"
    for fill in (b"x", b"y"):
        with atomic_write(path) as file:
            file.write(fill * (9 << 20))
    assert path.read_bytes()[:2] == b"yy"
    for _ in range(1000):  # freed beside the program, in its own time
        if not any(str(path) in name for name in _held()):
            break
        time.sleep(0.01)
    assert not any(str(path) in name for name in _held())


def _held():
    """The files that this process holds open."""
    folder = Path("/proc/self/fd")
    return [os.readlink(held) for held in folder.iterdir() if held.is_symlink()]


def test_leftovers_of_other_names_are_removed_too(tmp_path):
    (tmp_path / ".taeda-00.partial").write_bytes(b"half of epoch 3")
    (tmp_path / "mine.partial").write_bytes(b"not ours")
    with atomic_write(tmp_path / "epoch4") as file:
        file.write(b"new")
    assert sorted(os.listdir(tmp_path)) == ["epoch4", "mine.partial"]


def test_a_name_of_any_length(tmp_path):
    path = tmp_path / ("x" * 255)
    with atomic_write(path) as file:
        file.write(b"new")
    assert path.read_bytes() == b"new"


def test_the_owner_is_kept_where_we_may(tmp_path):
    if os.getuid() != 0:
        pytest.skip("only root may give files away")
    path = tmp_path / "a"
    path.write_bytes(b"old")
    os.chown(path, 1234, 5678)
    with atomic_write(path) as file:
        file.write(b"new")
    assert (path.stat().st_uid, path.stat().st_gid) == (1234, 5678)


def test_the_file_seeks_tells_and_takes_text(tmp_path):
    path = tmp_path / "a"
    with atomic_write(path) as file:
        file.write(b"....")
        file.seek(1)
        assert file.tell() == 1
        file.write(memoryview(b"ab"))
        file.seek(0, os.SEEK_END)
        text = io.TextIOWrapper(file, "utf-8", write_through=True)
        text.write("é")
        text.detach()
    assert path.read_bytes() == ".ab.é".encode()


def test_formats_that_go_back_can_write_to_it(tmp_path):
    with atomic_write(tmp_path / "a.zip") as file, zipfile.ZipFile(file, "w") as archive:
        archive.writestr("name", b"content")
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        assert archive.read("name") == b"content"


def test_an_error_of_the_caller_stays_as_it_is(tmp_path):
    with (
        pytest.raises(FileNotFoundError, match="No such file"),
        atomic_write(tmp_path / "a"),
    ):
        (tmp_path / "missing").read_bytes()
    assert os.listdir(tmp_path) == []


def test_a_relative_path_means_the_folder_of_the_beginning(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with atomic_write("a") as file:
        file.write(b"new")
        monkeypatch.chdir("/")
    assert (tmp_path / "a").read_bytes() == b"new"


@pytest.mark.parametrize("pieces", [[300_000] * 9, [1, 1_300_000, 5000], [1 << 20, 3]])
def test_the_device_begins_early_with_whole_pages_that_are_not_written_again(tmp_path, pieces):
    class Watched(disk.Disk):
        asked: ClassVar = []

        def flush_early(self, descriptor, offset, count):
            self.asked.append((offset, offset + count))
            super().flush_early(descriptor, offset, count)

    content = [bytes([i + 1]) * count for i, count in enumerate(pieces)]
    with disk.replaced(Watched()), atomic_write(tmp_path / "a") as file:
        for part in content:
            file.write(part)
    assert (tmp_path / "a").read_bytes() == b"".join(content)
    edges = [edge for span in Watched.asked for edge in span]
    assert edges
    assert edges == sorted(edges)
    assert all(edge % 4096 == 0 for edge in edges)
    assert edges[-1] <= sum(pieces)


def test_the_device_does_not_begin_early_with_the_end(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(disk.Disk, "flush_early", lambda self, *span: asked.append(span[1:]))
    with atomic_write(tmp_path / "a", 3 << 20) as file:
        for _ in range(3):
            file.write(bytes(1 << 20))
    assert asked == [(0, 1 << 20), (1 << 20, 1 << 20)]


def test_readers_beside_a_writer_see_whole_files(tmp_path):
    path, stop, seen = tmp_path / "a", threading.Event(), []
    path.write_bytes(b"0" * 1000)

    def read():
        while not stop.is_set():
            seen.append(len(set(path.read_bytes())))

    reader = threading.Thread(target=read)
    reader.start()
    for number in range(100):
        with atomic_write(path) as file:
            for _ in range(10):
                file.write(b"%d" % (number % 10) * 100)
    stop.set()
    reader.join()
    assert set(seen) == {1}


def test_a_pipe_under_the_name_of_a_leftover_does_not_hold_us_up(tmp_path):
    os.mkfifo(tmp_path / ".taeda-00.partial")
    (tmp_path / ".taeda-01.partial").symlink_to("elsewhere")
    with atomic_write(tmp_path / "a") as file:
        file.write(b"new")
    assert len(os.listdir(tmp_path)) == 3
