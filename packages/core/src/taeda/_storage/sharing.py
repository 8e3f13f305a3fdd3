"""Storages that other processes see: how their memory is made, and how it is found again.

A segment is a memfd, which has no name and so cannot be left behind by a process that dies, or
under the strategy "file_system" a file in /dev/shm, which a small process removes when nobody holds
it any more. The bytes are written before they are mapped, and a memfd is sealed at its size: no
store through the mapping can meet a page that the system does not have.
"""

from __future__ import annotations

import errno
import fcntl
import math
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeGuard, TypeVar

from .._native import core as _core

Tensor = _core.Tensor
T = TypeVar("T")
__all__ = [
    "from_file",
    "gather",
    "is_own_file",
    "is_shared",
    "new_shared",
    "reserved_file",
    "share",
    "strategy",
]

SHARED, KEEP_FD, FIND = 1, 2, 4  # flags of map_storage and move_storage
FILES = "/dev/shm/taeda-"  # how the names of our own files begin

#: how new segments are made; taeda.multiprocessing.set_sharing_strategy changes it
strategy = "file_descriptor"
_lock = threading.RLock()  # one thread moves a storage at a time


def _fresh_lock() -> None:
    global _lock
    _lock = threading.RLock()


os.register_at_fork(after_in_child=_fresh_lock)


def is_shared(tensor: Tensor) -> bool:
    """Whether the bytes of a tensor lie in memory that other processes can see."""
    facts = _core.segment_facts(tensor)
    return facts is not None and facts[0]


def is_own_file(name: str | None) -> TypeGuard[str]:
    """Whether a name is that of a file made under the strategy "file_system"."""
    return name is not None and name.startswith(FILES)


def share(tensor: Tensor) -> None:
    """Move the storage of a tensor, and with it every view of that storage, into shared memory.

    Nothing happens to a storage that is there already, and to a meta tensor, which has no bytes. RuntimeError
    if the system has no memory or no file descriptor left.
    """
    if tensor.device.type == "meta":
        return
    with _lock:
        if is_shared(tensor):
            return
        with _segment(tensor.untyped_storage().nbytes()) as segment:
            _core.move_storage(tensor, segment.fd, 0, segment.flags, segment.name)
            segment.settle(tensor)


def new_shared(nbytes: int) -> Tensor:
    """`nbytes` zero bytes in shared memory, as a uint8 tensor. RuntimeError if they are not to be had."""
    with _segment(nbytes) as segment:
        _reserve(segment.fd, nbytes)
        return segment.map(nbytes)


def reserved_file(nbytes: int) -> int:
    """A descriptor of `nbytes` zero bytes without a name, all of them promised by the system;
    RuntimeError otherwise.
    """
    fd = _made(nbytes, _new_memfd)
    try:
        _reserve(fd, nbytes)
        _seal(fd)
    except BaseException:
        os.close(fd)
        raise
    return fd


def gather(chunks: Iterable[bytes]) -> Tensor:
    """The bytes of all chunks, one after the other in shared memory, as a uint8 tensor."""
    size = 0
    with _segment(0) as segment:
        for chunk in chunks:
            _check_memory(len(chunk))
            size += _write(segment.fd, chunk)
        return segment.map(size)


def _write(fd: int, chunk: bytes) -> int:
    done, view = 0, memoryview(chunk)
    while done < len(chunk):
        try:
            done += os.write(fd, view[done:])
        except OSError as error:
            raise RuntimeError(_sentence(error, f"{len(chunk)} bytes of shared memory")) from error
    return done


def _reserve(fd: int, nbytes: int) -> None:
    """Make the file that long, with every page promised: a later store cannot fail."""
    if nbytes <= 0:
        return
    try:
        os.posix_fallocate(fd, 0, nbytes)
    except OSError as error:
        raise RuntimeError(_sentence(error, f"{nbytes} bytes of shared memory")) from error


class _Segment:
    """Fresh memory that can be shared, and what becomes of it."""

    def __init__(self, fd: int, name: str | None) -> None:
        self.fd, self.name = fd, name
        self.flags = SHARED if name else SHARED | KEEP_FD

    def map(self, nbytes: int) -> Tensor:
        made = _core.map_storage(self.fd, 0, nbytes, self.flags, self.name)
        self.settle(made)
        return made

    def settle(self, tensor: Tensor) -> None:
        """A storage lies on it now, and has taken the descriptor over."""
        fd, self.fd = self.fd, -1
        if self.name is None:
            _seal(fd)
        else:
            _shared_files().created(tensor, self.name)

    def abandon(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)
        if self.name is not None:
            _shared_files().abandon(self.name)


@contextmanager
def _segment(nbytes: int) -> Iterator[_Segment]:
    """Memory for `nbytes`, made as the strategy says; given back if the block fails."""
    if strategy == "file_system":
        segment = _Segment(*_made(nbytes, _new_file))
    else:
        segment = _Segment(_made(nbytes, _new_memfd), None)
    try:
        yield segment
    except BaseException:
        segment.abandon()
        raise


def _made(nbytes: int, make: Callable[[], T]) -> T:
    _check_memory(nbytes)
    try:
        return make()
    except OSError as error:
        raise RuntimeError(_sentence(error, "a segment of shared memory")) from error


def _new_memfd() -> int:
    return os.memfd_create("taeda", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)


def _new_file() -> tuple[int, str]:
    return _shared_files().create()


def _shared_files() -> Any:
    from . import shared_files as _shared_files  # late: needs sockets, which few programs do

    return _shared_files


_LARGE = 64 << 20  # smaller segments are not worth a look at the system's figures


def _check_memory(nbytes: int) -> None:
    """A memfd has no limit of its own: asked for more than there is, the system kills a process."""
    if nbytes < _LARGE:
        return
    free = min(_free_in_system(), _free_in_group())
    if nbytes > free:
        raise RuntimeError(
            f"cannot get {nbytes} bytes of shared memory: {int(free)} bytes of memory are free"
        )


def _free_in_system() -> float:
    try:
        text = Path("/proc/meminfo").read_text()
    except OSError:
        return math.inf
    facts = dict(line.split(":", 1) for line in text.splitlines())
    return sum(1024 * int(facts.get(k, "0").split()[0]) for k in ("MemAvailable", "SwapFree"))


def _free_in_group() -> float:
    """What the limit of the container leaves; infinite without one."""
    root = Path("/sys/fs/cgroup")
    for limit, used in (
        ("memory.max", "memory.current"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
    ):
        try:
            return int((root / limit).read_text()) - int((root / used).read_text())
        except (OSError, ValueError):  # no such group, or "max"
            continue
    return math.inf


def _seal(fd: int) -> None:
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)


_ADVICE = {
    errno.EMFILE: (
        "every shared storage keeps one file descriptor open: raise the limit (ulimit -n), or call "
        "taeda.multiprocessing.set_sharing_strategy('file_system'), which keeps none"
    ),
    errno.ENFILE: "the whole system is out of file descriptors (fs.file-max)",
    errno.ENOSPC: "free some space, or enlarge the file system (in a container: --shm-size)",
    errno.ENOMEM: "memory is out",
}


def _sentence(error: OSError, wanted: str) -> str:
    advice = _ADVICE.get(error.errno or 0)
    return f"cannot get {wanted}: {error.strerror}" + (f"; {advice}" if advice else "")


def from_file(filename: Any, shared: bool, nbytes: int) -> Tensor:
    """The first `nbytes` bytes of a file, mapped, as a uint8 tensor; see UntypedStorage.from_file."""
    path = Path(os.fspath(filename))
    if nbytes < 0:
        raise RuntimeError(
            f"cannot map {nbytes} bytes of {str(path)!r}: the size must not be negative"
        )
    fd = _open(path, shared)
    try:
        size = os.fstat(fd).st_size
        if size < nbytes and shared:
            _reserve(fd, nbytes)
        elif size < nbytes:
            raise RuntimeError(
                f"cannot map {nbytes} bytes of {str(path)!r}: it has {size}, and only shared=True "
                "lengthens a file"
            )
        return _core.map_storage(fd, 0, nbytes, SHARED if shared else 0, str(path))
    except BaseException:
        os.close(fd)
        raise


def open_named(name: str, offset: int, nbytes: int) -> Tensor:
    """The storage at a place in a file that another process shares; the one this process has
    already, if it has.
    """
    fd = _open(Path(name), shared=True, create=False)
    try:
        return _core.map_storage(fd, offset, nbytes, SHARED | FIND, name)
    except BaseException:
        os.close(fd)
        raise


def _open(path: Path, shared: bool, create: bool = True) -> int:
    write = os.O_RDWR | (os.O_CREAT if create else 0)
    try:
        return os.open(path, os.O_CLOEXEC | (write if shared else os.O_RDONLY), 0o666)
    except OSError as error:
        mode = "read-write" if shared else "read-only"
        raise RuntimeError(
            f"unable to open file {str(path)!r} in {mode} mode: {error.strerror}"
        ) from error
