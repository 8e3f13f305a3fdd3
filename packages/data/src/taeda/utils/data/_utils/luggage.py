"""What a new process takes along: the data set and the functions, for start methods that send them.

Large tensors move into shared memory and are there once for all workers. Small ones are copied:
each shared storage needs a file descriptor, and a server of forks takes no more than 250 at once.
"""

from __future__ import annotations

import io
import pickle
from multiprocessing.reduction import ForkingPickler
from typing import Any

from taeda import Tensor

from .plain import is_plain

__all__ = ["Luggage"]

_LARGE = 1 << 16  # bytes of a tensor that is worth a descriptor
_MOST_SHARED = 100


class Luggage:
    """A value, or on the other side of a pickle the bytes of one until they are opened."""

    def __init__(self, content: Any, packed: bytes | None = None) -> None:
        self._content, self._packed = content, packed

    def opened(self) -> Any:
        """The value. What its unpickling raises is raised here, where somebody can tell of it."""
        if self._packed is not None:
            self._content, self._packed = pickle.loads(self._packed), None
        return self._content

    def __reduce__(self) -> Any:
        file = io.BytesIO()
        _Pickler(file).dump(self.opened())
        return Luggage, (None, file.getvalue())


class _Pickler(ForkingPickler):
    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self._shared = 0

    def reducer_override(self, value: Any) -> Any:
        """How a tensor is written; everything else as usual."""
        if type(value) is not Tensor or not is_plain(value):
            return NotImplemented
        if value.nbytes >= _LARGE and self._shared < _MOST_SHARED:
            # Loading it takes long, and teaches ForkingPickler of storages after our table was copied.
            from taeda.multiprocessing.reductions import reduce_tensor

            self._shared += 1
            late = ForkingPickler._extra_reducers  # type: ignore[attr-defined]  # not in its stub
            self.dispatch_table.update(late)
            return reduce_tensor(value)
        if value.requires_grad and not value.is_leaf:
            return NotImplemented  # refused there, with advice
        return value.__reduce_ex__(pickle.HIGHEST_PROTOCOL)
