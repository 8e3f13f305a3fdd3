"""The operations on files that writing consists of, in one object, so that a test can make each of them fail.

`taeda.testing.faults` puts another object in its place.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
from collections.abc import Iterator

from taeda._native import core as _core

__all__ = ["Disk", "current", "replaced"]

#: what file systems without a lock, a folder that syncs, or owners answer
_NOT_OFFERED = {errno.EINVAL, errno.ENOTSUP, errno.ENOLCK, errno.ENOSYS}


class Disk:
    """The real operations. Each raises OSError as the system reports it."""

    def create(self, path: str, mode: int) -> int:
        """A descriptor of a new file, locked: a lock says that its writer lives.
        `mode` is cut by the umask.
        """
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        descriptor = os.open(path, flags, mode)  # half-written: until atomic_write renames it
        with _where_offered():
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        return descriptor

    def write(self, descriptor: int, data: memoryview) -> int:
        """Write a part of `data`; the number of bytes that the system took."""
        return os.write(descriptor, data)

    def flush_early(self, descriptor: int, offset: int, count: int) -> None:
        """Let the device begin with these bytes, so that `sync` has less to wait for."""
        _core.start_writeback(descriptor, offset, count)

    def copy_rights(self, descriptor: int, target: str) -> None:
        """Owner, permissions and access list of the file that is replaced; the owner only as far as we may.

        Where the group stays another, its members get no more than everybody. Content that is new runs with
        nobody's rights, so the bits that say so (setuid, setgid) are not copied.
        """
        old, new = os.stat(target), os.fstat(descriptor)
        mode = old.st_mode & 0o777
        with contextlib.suppress(PermissionError):
            if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
                os.fchown(descriptor, old.st_uid, old.st_gid)
        same_group = os.fstat(descriptor).st_gid == old.st_gid
        if not same_group or not _copy_list(descriptor, target):
            mode &= 0o707 | (mode & 0o007) << 3
        if stat.S_IMODE(new.st_mode) != mode:
            os.fchmod(descriptor, mode)

    def sync(self, descriptor: int) -> None:
        """Wait until the file is on the device."""
        os.fsync(descriptor)

    def rename(self, old: str, new: str) -> None:
        """Give a file its final name, in one step."""
        os.replace(old, new)

    def sync_folder(self, folder: str) -> None:
        """Make a rename survive a power failure."""
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            with _where_offered():
                os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def remove(self, path: str) -> None:
        """Remove a file."""
        os.unlink(path)


_ACCESS_LIST = "system.posix_acl_access"


def _copy_list(descriptor: int, target: str) -> bool:
    """Copy the access list of a file that has one; False if it had to stay behind.

    With a list, the mode's bits for the group are no longer the group's own, but the most that any
    entry grants.
    """
    try:
        entries = os.getxattr(target, _ACCESS_LIST)
    except OSError as error:
        return error.errno in {errno.ENODATA, *_NOT_OFFERED}
    try:
        os.setxattr(descriptor, _ACCESS_LIST, entries)
    except OSError:
        return False
    return True


@contextlib.contextmanager
def _where_offered() -> Iterator[None]:
    """What some file systems do not offer is done without."""
    try:
        yield
    except OSError as error:
        if error.errno not in _NOT_OFFERED:
            raise


_disk = Disk()


def current() -> Disk:
    """The disk that is written to."""
    return _disk


@contextlib.contextmanager
def replaced(disk: Disk) -> Iterator[None]:
    """Write to another disk inside the block, in every thread."""
    global _disk
    before, _disk = _disk, disk
    try:
        yield
    finally:
        _disk = before
