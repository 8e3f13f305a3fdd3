"""The one way this library writes a file: a reader finds the old content or the new, nothing between.

    sibling temporary file (locked) → content → fsync → rename over the target → fsync of the folder

A process that dies leaves at most its temporary file; the next write to the same target removes it.
"""

from __future__ import annotations

import contextlib
import fcntl
import glob
import os
import secrets
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

__all__ = ["atomic_write"]

_LARGE = 8 << 20


@contextlib.contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a binary file that becomes `path` when the `with` block ends without an exception.

    After an exception `path` is what it was. The file keeps the permissions of the one it
    replaces; a symbolic link stays, and its target is replaced. What is no regular file (a pipe, a
    device) is written directly.
    """
    target = Path(os.path.realpath(path))
    mode = _mode_of(target)
    if mode is not None and not stat.S_ISREG(mode):
        with open(target, "wb", buffering=0) as special:
            yield special
        return
    _remove_leftovers(target)
    temporary, file = _open_temporary(target)
    try:
        with file:
            yield file
            file.flush()
            if mode is not None:
                os.fchmod(file.fileno(), stat.S_IMODE(mode))
            os.fsync(file.fileno())
            _replace(temporary, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()
        raise
    _sync_folder(target.parent)


def _replace(temporary: Path, target: Path) -> None:
    """Rename; a large old file is freed beside the program, for that takes as long as writing one."""
    try:
        old = os.open(target, os.O_RDONLY)
    except OSError:  # none there, or none to be read: nothing to hold
        os.replace(temporary, target)
        return
    try:
        os.replace(temporary, target)
    finally:
        if os.fstat(old).st_size < _LARGE:
            os.close(old)
        else:
            threading.Thread(target=os.close, args=(old,)).start()


def _mode_of(target: Path) -> int | None:
    try:
        return target.stat().st_mode
    except FileNotFoundError:
        return None


def _pattern(target: Path) -> str:
    return f".{glob.escape(target.name)}.*.partial"


def _open_temporary(target: Path) -> tuple[Path, IO[Any]]:
    """A new file beside the target, locked as long as it is open: a lock says that it is in use."""
    while True:
        temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}.partial")
        try:
            file = open(temporary, "xb", buffering=0)  # noqa: SIM115 - the caller closes it
        except FileNotFoundError as error:
            raise FileNotFoundError(
                error.errno, "the folder to write into does not exist", str(target.parent)
            ) from None
        fcntl.flock(file, fcntl.LOCK_EX)
        if os.fstat(file.fileno()).st_nlink:
            return temporary, file
        file.close()  # taken for a leftover before it was locked


def _remove_leftovers(target: Path) -> None:
    """Remove temporary files of processes that died: nobody holds their lock."""
    for leftover in target.parent.glob(_pattern(target)):
        with contextlib.suppress(OSError), open(leftover, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            leftover.unlink()


def _sync_folder(folder: Path) -> None:
    """Make the rename itself survive a power failure."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
