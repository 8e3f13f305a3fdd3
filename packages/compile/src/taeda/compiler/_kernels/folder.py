"""The folder of compiled chains, which holds code: it and its files belong to this user, nobody
else may write them, and a file is opened as a library only if its content is what was written.

    <digest>.so = the library, then MARK and the digest of it and of the name

A name is the digest of all that the library was made from. Where something is not as it should be
the file counts as missing; where nothing can be kept nothing is.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from pathlib import Path

from taeda._core_api.chains import atomic_write, cache_place

from .._logs import log_of

__all__ = ["MOST_BYTES", "digest", "find", "keep", "place"]

MOST_BYTES = 64 << 20  # of the folder; then the oldest go, down to half of it
_MARK = b"\ntaeda chain "
_END = len(_MARK) + 64
_log = log_of("inductor")
_told: set[str] = set()


def place() -> Path:
    """Where compiled chains are kept."""
    return cache_place("chains")


def digest(*parts: str) -> str:
    """A name for what is made of these texts."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:40]


def find(name: str) -> Path | None:
    """The library of that name, if it is there and whole and ours."""
    folder = _checked(make=False)
    path = folder / f"{name}.so" if folder else None
    if path is None:
        return None
    try:
        content = _read(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        _say(f"{path} is not used: {error}")
        return None
    body, end = content[:-_END], content[-_END:]
    if end != _MARK + _sum(body, name).encode():
        _say(f"{path} is not used: its content is not what was written")
        return None
    with contextlib.suppress(OSError):  # a folder that may only be read
        os.utime(path)
    return path


def keep(name: str, library: Path) -> Path | None:
    """Keep a library under a name; None if that cannot be, which is told once."""
    folder = _checked(make=True)
    if folder is None:
        return None
    content = library.read_bytes()
    path = folder / f"{name}.so"
    content += _MARK + _sum(content, name).encode()
    try:
        with atomic_write(path, len(content), sync="off") as file:
            file.write(content)
        os.chmod(path, 0o600)  # whatever the umask; until now the folder kept others out
        _shrink(folder)
    except OSError as error:
        _say(f"compiled chains are not kept: {error}")
        return None
    return path


def _sum(content: bytes, name: str) -> str:
    return hashlib.sha256(content + name.encode()).hexdigest()


def _read(path: Path) -> bytes:
    """What a file of ours holds; PermissionError if others may write it."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise PermissionError("it is no regular file")
        _check_owner(status)
        return file.read()


def _check_owner(status: os.stat_result) -> None:
    if status.st_uid != os.geteuid():
        raise PermissionError(f"it belongs to user {status.st_uid}")
    if status.st_mode & 0o022:
        raise PermissionError(f"others may write it ({stat.filemode(status.st_mode)})")


def _checked(*, make: bool) -> Path | None:
    """The folder, if it is there (or was made) and ours alone."""
    path = place()
    try:
        if make:
            path.parent.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(FileExistsError):
                path.mkdir(mode=0o700)
        status = os.lstat(path)
        if not stat.S_ISDIR(status.st_mode):
            raise NotADirectoryError("it is no folder")
        _check_owner(status)
    except FileNotFoundError:
        return None
    except OSError as error:
        _say(f"compiled chains are not kept in {path}: {error}")
        return None
    return path


def _shrink(folder: Path) -> None:
    found = []
    for entry in os.scandir(folder):
        with contextlib.suppress(FileNotFoundError):  # another process removed it
            status = entry.stat(follow_symlinks=False)
            found.append((status.st_mtime, status.st_size, entry.path))
    total = sum(size for _, size, _ in found)
    if total <= MOST_BYTES:
        return
    for _, size, path in sorted(found):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        total -= size
        if total <= MOST_BYTES // 2:
            return


def _say(text: str) -> None:
    if text not in _told:
        _told.add(text)
        _log.warning("%s", text)
