"""The one way this library writes a file: a reader finds the old content or the new, nothing between.

    sibling temporary file (locked) → content → fsync → rename over the target → fsync of the folder

A process that dies leaves at most its temporary file; the next write into the folder removes it.
Which of the two waits are done is the caller's choice; the order of the steps never changes.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import secrets
import stat
from collections.abc import Iterator
from typing import IO, Literal, TypeAlias, cast, get_args

from taeda._native import core as _core

from . import disk
from .atomicfile import AtomicFile
from .explain import check_space, explained, unconfirmed

__all__ = ["AtomicFile", "Sync", "atomic_write", "check_sync"]

#: what is waited for before the writer goes on: nothing, the content, or also the name
Sync: TypeAlias = Literal["off", "normal", "full"]
_LARGE = 1 << 16  # bytes: starting a thread takes as long as freeing so many
_BEGIN, _END = ".taeda-", ".partial"  # of a temporary file's name


@contextlib.contextmanager
def atomic_write(
    path: str | os.PathLike[str], size: int = 0, *, sync: Sync = "normal"
) -> Iterator[IO[bytes]]:
    """Open a binary file that becomes `path` when the `with` block ends without an exception.

    After an exception `path` is what it was, and no other file is left. The file keeps the
    permissions of the one it replaces, and the owner as far as the process may give it, and at no
    time may anybody read more of it than of that one; a symbolic link stays, and its target is
    replaced. What is no regular file (a pipe, a device) is written directly. `size` is how many
    bytes will be written, if that is known: a disk that has not as many is refused at once. The
    OSError of a failure says what is missing.

    However the process ends, `path` is the old file or the new one. After a loss of power it is so too,
    unless `sync` is "off". With "full" it is the new one from the moment on when the block is left; with
    "normal" a few seconds later, when the system has written the folder.

    For text: `file.write(text.encode())`.
    """
    check_sync(sync)
    target = _target_of(os.fspath(path))
    old = _status_of(target)
    if old is not None and not stat.S_ISREG(old.st_mode):
        with open(target, "wb", buffering=0) as special:  # half-written: no regular file
            yield special
        return
    _check_writable(target, old)
    check_space(target, size)
    _remove_leftovers(os.path.dirname(target))
    with _temporary(target, size, 0o666 if old is None else 0o600) as (name, file):
        yield cast("IO[bytes]", file)
        with explained(target, size):
            # as they are now: somebody may just have changed them
            if _status_of(target) is not None:
                disk.current().copy_rights(file.descriptor, target)
            if sync != "off":
                disk.current().sync(file.descriptor)
            _replace(name, target, old)
    if sync == "full":
        with unconfirmed(target):
            disk.current().sync_folder(os.path.dirname(target))


def check_sync(sync: str) -> None:
    """ValueError if `sync` is none of the three."""
    if sync not in get_args(Sync):
        raise ValueError(f"sync is 'off', 'normal' or 'full', got {sync!r:.50}")


def _target_of(path: str) -> str:
    """What is replaced: the file behind a link, wherever the process may go meanwhile."""
    return os.path.realpath(path) if os.path.islink(path) else os.path.join(os.getcwd(), path)


def _status_of(target: str) -> os.stat_result | None:
    try:
        return os.stat(target)
    except FileNotFoundError:
        return None


def _check_writable(target: str, old: os.stat_result | None) -> None:
    """A file that its owner made read-only is not replaced, though its folder would allow it."""
    if old is not None and not old.st_mode & 0o222:
        mode = stat.filemode(old.st_mode)
        advice = "make it writable (chmod u+w), or choose another name"
        raise PermissionError(errno.EACCES, f"the file is read-only ({mode}): {advice}", target)


@contextlib.contextmanager
def _temporary(target: str, size: int, mode: int) -> Iterator[tuple[str, AtomicFile]]:
    """A new file beside the target, which is removed unless the block gave it another name."""
    while True:
        name = f"{os.path.dirname(target)}/{_BEGIN}{secrets.token_hex(8)}{_END}"
        with explained(target, size):
            file = AtomicFile(disk.current().create(name, mode), target, size)
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


def _replace(temporary: str, target: str, old: os.stat_result | None) -> None:
    """Rename, and let a large old file be freed beside the program: some disks make one wait for that."""
    if old is None or old.st_size < _LARGE:
        disk.current().rename(temporary, target)
        return
    with contextlib.ExitStack() as after:
        with contextlib.suppress(OSError):  # none to be read: nothing to hold
            held = os.open(target, os.O_RDONLY | os.O_CLOEXEC)
            after.callback(_core.close_aside, held)
        disk.current().rename(temporary, target)


def _remove_leftovers(folder: str) -> None:
    """Remove temporary files of processes that died: nobody holds their lock."""
    try:
        names = os.listdir(folder)
    except OSError:  # no folder, or one that may not be read: writing will tell
        return
    for name in names:
        if name.startswith(_BEGIN) and name.endswith(_END):
            with contextlib.suppress(OSError):  # somebody's at work, or not ours
                _remove_leftover(os.path.join(folder, name))


def _remove_leftover(path: str) -> None:
    # Not blocking: in a folder for everybody, anybody may put a pipe there under this name.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.unlink(path)
    finally:
        os.close(descriptor)
