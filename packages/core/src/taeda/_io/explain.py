"""What a failed write tells: which disk, how many bytes, and that the old file is as it was."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator

__all__ = ["check_space", "explained", "unconfirmed"]


def check_space(target: str, size: int) -> None:
    """OSError before anything is written if the disk has no room for `size` bytes."""
    free = _free(os.path.dirname(target))
    if free is not None and size > free:
        raise OSError(errno.ENOSPC, _sentence(errno.ENOSPC, target, size), target)


@contextlib.contextmanager
def explained(target: str, size: int) -> Iterator[None]:
    """Give an OSError of the block the facts that help, and its number and type as they were."""
    try:
        yield
    except OSError as error:
        if error.errno not in _SENTENCES:
            raise
        raise type(error)(error.errno, _sentence(error.errno, target, size), target) from error


@contextlib.contextmanager
def unconfirmed(target: str) -> Iterator[None]:
    """An OSError of the block comes when the new file is in its place already."""
    try:
        yield
    except OSError as error:
        text = f"{os.path.basename(target)} is written, but whether it survives a power failure is unknown"
        raise type(error)(error.errno, f"{text}: {error.strerror}", target) from error


def _sentence(number: int, target: str, size: int) -> str:
    folder, name = os.path.split(target)
    if number == errno.ENOENT and os.path.isdir(folder):
        return (
            f"no file can be made in {folder}, which is no folder of a disk; choose another place"
        )
    facts = {
        "folder": folder,
        "wanted": f"{size} bytes are to be written, and " if size else "",
        "free": _free(folder),
    }
    state = "is as it was" if os.path.exists(target) else "was not made"
    return f"{_SENTENCES[number].format(**facts)}; {name} {state}"


_READ_ONLY = (
    "the file or its folder {folder} may not be written; change its permissions, or choose another "
    "place"
)
_SENTENCES = {
    errno.ENOSPC: "the disk is full: {wanted}{free} are free in {folder} (an old file stays until the "
    "new one is whole)",
    errno.EDQUOT: "your quota on this disk is used up: {wanted}{free} bytes are free on it in all",
    errno.EFBIG: "the file would be larger than this file system or the process's limit allows: "
    "{wanted}see `ulimit -f`",
    errno.EIO: "the device reports an error while it writes to {folder}; look at the system's log "
    "(`dmesg`), and save to another disk",
    errno.EROFS: "the file system of {folder} is read-only; choose another place, or mount it again",
    errno.EACCES: _READ_ONLY,
    errno.EPERM: _READ_ONLY,
    errno.ENOENT: "the folder to write into does not exist: {folder}; make it first",
    errno.ENOTDIR: "this is no folder: {folder}",
}


def _free(folder: str) -> int | None:
    try:
        status = os.statvfs(folder)
    except OSError:  # the folder is not there, which the write itself will say
        return None
    if not status.f_blocks:  # no disk: /proc and its like, which will refuse by themselves
        return None
    return status.f_bavail * status.f_frsize
