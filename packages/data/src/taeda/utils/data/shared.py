"""Large Python lists and dicts once in shared memory, for any number of workers.

A worker that walks over an ordinary list counts references, writes into every object, and so copies
all of it into its own memory. Here every record is serialised once; a worker reads the bytes of the
record it wants, and copies nothing else.

    bytes   │ record 0 │ record 1 │ record 2 │ …      one shared segment
    ends    │ e0       │ e1       │ e2       │ …      another: record i is bytes[ends[i-1]:ends[i]]
"""

from __future__ import annotations

import operator
import pickle
from array import array
from bisect import bisect_left
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any, Generic, TypeVar, overload

import taeda
from taeda import Tensor
from taeda._core_api import sharing as _sharing

__all__ = ["SharedDict", "SharedList"]

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
_CHUNK = 1 << 20


def _memory(tensor: Any) -> memoryview:
    return memoryview(tensor)


class _Numbers:
    """Whole numbers in a shared tensor, read one at a time without a tensor in between."""

    def __init__(self, tensor: Tensor) -> None:
        self.tensor, self.view = tensor, _memory(tensor)

    @classmethod
    def of(cls, numbers: array[int]) -> _Numbers:
        return cls(_sharing.gather([numbers.tobytes()]).view(taeda.int64))

    def __reduce__(self) -> Any:
        return _Numbers, (self.tensor,)


class SharedList(Sequence[T], Generic[T]):
    """An unchangeable list whose items lie serialised in shared memory; reading one makes a fresh object.

    `items` may be any iterable, and is read once. Sent to a worker, it travels as a handle. Items
    must be picklable. IndexError past the end; a slice is an ordinary list. RuntimeError if shared
    memory is out.

    Args:
        items: any iterable of picklable objects (()).

    >>> samples = SharedList({"id": i} for i in range(3))
    >>> len(samples), samples[-1]
    (3, {'id': 2})
    """

    def __init__(self, items: Iterable[T] = ()) -> None:
        ends = array("q")
        self._bytes = _sharing.gather(_records(items, ends))
        self._ends = _Numbers.of(ends)
        self._open()

    def _open(self) -> None:
        self._view = _memory(self._bytes)
        self._length = len(self._ends.view)

    def __getstate__(self) -> Any:
        return {"bytes": self._bytes, "ends": self._ends}

    def __setstate__(self, state: Any) -> None:
        self._bytes, self._ends = state["bytes"], state["ends"]
        self._open()

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self._load(i) for i in range(*index.indices(self._length))]
        i = operator.index(index)
        if i < 0:
            i += self._length
        if not 0 <= i < self._length:
            raise IndexError(f"index {index} is out of range for a list of {self._length} items")
        return self._load(i)

    def __getitems__(self, indices: Iterable[int]) -> list[T]:
        """The items at several indices: a batch in one call."""
        return [self[i] for i in indices]

    def __iter__(self) -> Iterator[T]:
        return map(self._load, range(self._length))

    def _load(self, i: int) -> T:
        ends = self._ends.view
        return pickle.loads(self._view[ends[i - 1] if i else 0 : ends[i]])

    def nbytes(self) -> int:
        """Bytes of shared memory."""
        return self._bytes.nbytes + self._ends.tensor.nbytes

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (SharedList, list)):
            return NotImplemented
        return len(self) == len(other) and all(map(operator.eq, self, other))

    __hash__ = None  # type: ignore[assignment]  # as lists have none

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._length} items, {self.nbytes()} bytes)"


def _records(items: Iterable[Any], ends: array[int]) -> Iterator[bytes]:
    """The serialised items in pieces of about a megabyte; where each record ends is noted in `ends`."""
    pending, total = bytearray(), 0
    for item in items:
        record = pickle.dumps(item, protocol=5)
        total += len(record)
        ends.append(total)
        pending += record
        if len(pending) >= _CHUNK:
            yield bytes(pending)
            pending.clear()
    yield bytes(pending)


class SharedDict(Mapping[K, V], Generic[K, V]):
    """An unchangeable dict whose keys and values lie serialised in shared memory; order is that of insertion.

    Keys are str, bytes, numbers, None, or tuples of those: their hash must be the same in every
    process. TypeError for others, KeyError for a key that is not there. RuntimeError if shared
    memory is out.

    Args:
        items: a mapping, or (key, value) pairs, read once (()).

    >>> ages = SharedDict({"ann": 31, ("b", 2): 7})
    >>> ages["ann"], ages[("b", 2)], "carl" in ages
    (31, 7, False)
    """

    def __init__(self, items: Mapping[K, V] | Iterable[tuple[K, V]] = ()) -> None:
        unique = dict(items)
        hashes = [stable_hash(key) for key in unique]
        order = sorted(range(len(hashes)), key=hashes.__getitem__)
        self._hashes = _Numbers.of(array("q", (hashes[i] for i in order)))
        self._order = _Numbers.of(array("q", order))
        self._keys: SharedList[K] = SharedList(unique)
        self._values: SharedList[V] = SharedList(unique.values())

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[K]:
        return iter(self._keys)

    def __getitem__(self, key: K) -> V:
        wanted, hashes = stable_hash(key), self._hashes.view
        at = bisect_left(hashes, wanted)
        while at < len(hashes) and hashes[at] == wanted:
            place = self._order.view[at]
            if self._keys[place] == key:
                return self._values[place]
            at += 1
        raise KeyError(key)

    def __contains__(self, key: object) -> bool:
        try:
            self[key]  # type: ignore[index]  # any object may be asked for
        except (KeyError, TypeError):
            return False
        return True

    def nbytes(self) -> int:
        """Bytes of shared memory."""
        own = self._hashes.tensor.nbytes + self._order.tensor.nbytes
        return own + self._keys.nbytes() + self._values.nbytes()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self)} items, {self.nbytes()} bytes)"


def stable_hash(key: object) -> int:
    """A hash of 64 bits that is the same in every process; equal keys have equal ones."""
    return int.from_bytes(_digest(key), "little", signed=True)


def _digest(key: object) -> bytes:
    return blake2b(_canonical(key), digest_size=8).digest()


def _canonical(key: object) -> bytes:
    if isinstance(key, str):
        return b"s" + key.encode("utf-8", "surrogatepass")
    if isinstance(key, bytes):
        return b"b" + key
    if key is None:
        return b"0"
    # Python's own: the same for 1, 1.0 and True, and not salted
    if isinstance(key, (int, float, complex)):
        return b"n" + hash(key).to_bytes(8, "little", signed=True)
    if isinstance(key, tuple):
        return b"t" + b"".join(map(_digest, key))
    raise TypeError(
        f"a key of type {type(key).__name__} has no hash that is the same in every process: "
        "use str, bytes, numbers, None, or tuples of those"
    )
