"""The one way this library writes a file: a reader finds the old content or the new, nothing between.

    sibling temporary file (locked) → content → fsync → rename over the target → fsync of the folder

A process that dies leaves at most its temporary file; the next write into the folder removes it.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import io
import os
import secrets
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, cast

from . import disk
from .explain import check_space, explained, unconfirmed

__all__ = ["AtomicFile", "atomic_write"]

_LARGE = 8 << 20  # bytes: from here on the device begins before the end
_PATTERN = ".taeda-*.partial"


@contextlib.contextmanager
def atomic_write(path: str | os.PathLike[str], size: int = 0) -> Iterator[IO[bytes]]:
    """Open a binary file that becomes `path` when the `with` block ends without an exception.

    After an exception `path` is what it was, and no other file is left. The file keeps the
    permissions of the one it replaces, and the owner as far as the process may give it; a symbolic
    link stays, and its target is replaced. What is no regular file (a pipe, a device) is written
    directly. `size` is how many bytes will be written, if that is known: a disk that has not as
    many is refused at once. The OSError of a failure says what is missing.

    For text: `file.write(text.encode())`.
    """
    target = Path(os.path.realpath(path))
    old = _status_of(target)
    if old is not None and not stat.S_ISREG(old.st_mode):
        with open(target, "wb", buffering=0) as special:  # half-written: no regular file
            yield special
        return
    _check_writable(target, old)
    check_space(target, size)
    _remove_leftovers(target.parent)
    with _temporary(target, size) as (name, file):
        yield cast("IO[bytes]", file)
        with explained(target, size):
            if old is not None:
                disk.current().copy_rights(file.descriptor, old)
            disk.current().sync(file.descriptor)
            _replace(name, target)
    with unconfirmed(target):
        disk.current().sync_folder(str(target.parent))


class AtomicFile(io.RawIOBase):
    """A binary file whose `write` takes all it is given."""

    def __init__(self, descriptor: int, target: Path, size: int) -> None:
        self.descriptor, self.target, self.size = descriptor, target, size
        self._waiting = 0  # bytes since the device was last asked to begin

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        """Write all bytes of a contiguous buffer; their number."""
        view = memoryview(data)
        count = view.nbytes
        view = view.cast("B") if count else memoryview(b"")
        with explained(self.target, self.size):
            while view.nbytes:
                view = view[self._some(view) :]
        self._waiting += count
        if self._waiting >= _LARGE:
            self._flush_early()
        return count

    def _some(self, view: memoryview) -> int:
        try:
            done = disk.current().write(self.descriptor, view)
        except InterruptedError:
            return 0
        if done == 0:
            raise OSError(errno.EIO, "the system takes no more bytes and does not say why")
        return done

    def _flush_early(self) -> None:
        begin = max(self.tell() - self._waiting, 0)
        disk.current().flush_early(self.descriptor, begin, self._waiting)
        self._waiting = 0

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return os.lseek(self.descriptor, offset, whence)

    def tell(self) -> int:
        return os.lseek(self.descriptor, 0, os.SEEK_CUR)

    def truncate(self, size: int | None = None) -> int:
        size = self.tell() if size is None else size
        os.ftruncate(self.descriptor, size)
        return size

    def close(self) -> None:
        if not self.closed:
            super().close()
            os.close(self.descriptor)


def _status_of(target: Path) -> os.stat_result | None:
    try:
        return target.stat()
    except FileNotFoundError:
        return None


def _check_writable(target: Path, old: os.stat_result | None) -> None:
    """A file that its owner made read-only is not replaced, though its folder would allow it."""
    if old is not None and not old.st_mode & 0o222:
        mode = stat.filemode(old.st_mode)
        advice = "make it writable (chmod u+w), or choose another name"
        raise PermissionError(
            errno.EACCES, f"the file is read-only ({mode}): {advice}", str(target)
        )


@contextlib.contextmanager
def _temporary(target: Path, size: int) -> Iterator[tuple[str, AtomicFile]]:
    """A new file beside the target, which is removed unless the block gave it another name."""
    while True:
        name = str(target.with_name(f".taeda-{secrets.token_hex(8)}.partial"))
        with explained(target, size):
            file = AtomicFile(disk.current().create(name), target, size)
        if os.fstat(file.descriptor).st_nlink:
            break
        file.close()  # taken for a leftover before it was locked
    try:
        with file:
            yield name, file
    except BaseException:
        with contextlib.suppress(OSError):  # the first error is the one to tell
            disk.current().remove(name)
        raise


def _replace(temporary: str, target: Path) -> None:
    """Rename; a large old file is freed beside the program, for that takes as long as writing one."""
    try:
        old = os.open(target, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:  # none there, or none to be read: nothing to hold
        disk.current().rename(temporary, str(target))
        return
    try:
        disk.current().rename(temporary, str(target))
    finally:
        if os.fstat(old).st_size < _LARGE:
            os.close(old)
        else:
            threading.Thread(target=os.close, args=(old,)).start()


def _remove_leftovers(folder: Path) -> None:
    """Remove temporary files of processes that died: nobody holds their lock."""
    for leftover in folder.glob(_PATTERN):
        with contextlib.suppress(OSError):  # somebody's at work, or not ours
            _remove_leftover(leftover)


def _remove_leftover(path: Path) -> None:
    # Not blocking: in a folder for everybody, anybody may put a pipe there under this name.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink()
    finally:
        os.close(descriptor)
