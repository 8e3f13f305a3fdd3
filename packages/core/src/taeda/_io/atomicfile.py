"""The file that `atomic_write` gives: it takes all it is given, and lets the device begin early."""

from __future__ import annotations

import errno
import io
import os
from typing import Any

from . import disk
from .explain import explained

__all__ = ["AtomicFile"]

# bytes that the device begins with while the next are made; with less, it has more to wait for
_EARLY = 1 << 20
_PAGE = 1 << 12


class AtomicFile(io.RawIOBase):
    """A binary file whose `write` takes all it is given."""

    def __init__(self, descriptor: int, target: str, size: int) -> None:
        self.descriptor, self.target, self.size = descriptor, target, size
        self._waiting = 0  # bytes since the device was last asked to begin
        self._begun = 0  # where it has begun up to

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
        # nothing is made after the last
        if self._waiting >= _EARLY and not 0 < self.size <= self.tell():
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
        """Let the device begin with what was just written, in whole pages.

        A page that it is busy with cannot be written to, so none that is to be filled up is among them.
        """
        end = self.tell()
        begin = max(end - self._waiting, self._begun)
        begin, end = -(-begin // _PAGE) * _PAGE, end // _PAGE * _PAGE
        if begin < end:
            disk.current().flush_early(self.descriptor, begin, end - begin)
        self._waiting, self._begun = 0, end

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
