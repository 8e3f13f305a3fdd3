"""torch's form before 0.2: a tar with three files of pickles and numbers.

storages   how many | (key, device, type), number of elements, elements | parts of storages
tensors    how many | (key, storage, type), dimensions, sizes, strides, offset
pickle     the object, with storages and tensors by their keys
"""

from __future__ import annotations

import struct
from typing import Any

from taeda import Tensor
from taeda.storage import TypedStorage

from ..budget import Budget
from ..place import Place
from ..safetensors import FormatError
from ..source import FileSource
from ..tar import read_members
from . import rebuild
from .context import Context, StorageType
from .dryrun import check_long_pickle
from .errors import RefusedPickle
from .legacy import to_this_machine
from .machine import Machine, load
from .storages import as_storage, nowhere

__all__ = ["read_tar"]

_PICKLE = 1 << 16  # bytes that one of the small pickles may take
_MOST = 1_000_000
_DIMS = 64


def read_tar(source: FileSource, place: Place) -> Any:
    """The object in a file of this form."""
    members = read_members(source)
    if missing := {"storages", "tensors", "pickle"} - members.keys():
        raise FormatError(
            f"this is a tar archive without {', '.join(sorted(missing))}, so torch did not write it: "
            "unpack it (`tar xf`) and load the file inside"
        )
    described = members["tensors"][1] + members["pickle"][1]
    reader = _Reader(source, Context(Budget(source.size, described), place))
    reader.storages(*members["storages"])
    reader.tensors(*members["tensors"])
    begin, size = members["pickle"]
    data = source.read(begin, size)
    check_long_pickle(data, source.size)
    return load(data, Context(reader.context.budget, place, reader.find))


class _Reader:
    def __init__(self, source: FileSource, context: Context) -> None:
        self.source, self.context, self.place = source, context, context.place
        self.known: dict[int, Any] = {}
        self.at = self.end = 0

    def find(self, key: Any) -> Any:
        """What a key stands for; keys are written as numbers or as their digits."""
        number = int(key) if isinstance(key, str) and key.isdecimal() and len(key) < 30 else key
        if type(number) is not int or number not in self.known:
            raise RefusedPickle("the object names a tensor or storage that is not in the file")
        return self.known[number]

    def take(self, size: int) -> bytes:
        if size > self.end - self.at:
            raise FormatError("the file is truncated inside one of its three parts")
        data = self.source.read(self.at, size)
        self.at += size
        return data

    def pickle(self) -> Any:
        data = self.source.read(self.at, min(_PICKLE, self.end - self.at))
        machine = Machine(data, self.context)
        made = machine.run()
        self.at += machine.at
        return made

    def count(self) -> int:
        value = self.pickle()
        if type(value) is not int or not 0 <= value <= _MOST:
            raise FormatError("the number of storages or tensors is missing or too large")
        return value

    def keyed(self) -> tuple[int, Any, Any]:
        value = self.pickle()
        if not isinstance(value, tuple) or len(value) != 3 or type(value[0]) is not int:
            raise FormatError("a storage or tensor is described by its key and two values")
        return value

    def storages(self, begin: int, size: int) -> None:
        self.at, self.end = begin, begin + size
        for _ in range(self.count()):
            key, location, kind = self.keyed()
            readable = isinstance(kind, StorageType) and kind.dtype is not None
            if not readable or not isinstance(location, str):
                raise FormatError("a storage is described by its key, device and type")
            nbytes = int.from_bytes(self.take(8), "little") * kind.dtype.itemsize
            if nbytes > self.end - self.at:
                raise FormatError(
                    f"storage {key} is said to have {nbytes} bytes, more than the file"
                )
            self.known[key] = as_storage(self.bytes(nbytes, location, kind), kind)
        self.parts(self.pickle())

    def bytes(self, nbytes: int, location: str, kind: StorageType) -> Tensor:
        begin = self.at
        self.at += nbytes
        if self.place.is_meta(location):
            return nowhere(nbytes)
        self.context.budget.spend(nbytes)
        made, _ = self.source.tensor(begin, nbytes)
        to_this_machine(made, kind)
        return self.place.moved(made, location)

    def parts(self, given: Any) -> None:
        """[(key, key of the whole, offset, count)] of storages that were part of others."""
        for part in given if isinstance(given, list) else [None]:
            if not isinstance(part, tuple) or [type(value) for value in part] != [int] * 4:
                raise FormatError("a part of a storage is described by two keys, offset and length")
            key, owner, offset, count = part
            whole = self.known.get(owner)
            if not isinstance(whole, TypedStorage):
                raise FormatError(f"storage {key} is part of {owner}, which is not there")
            if offset < 0 or count < 0 or offset + count > len(whole):
                raise FormatError(f"storage {key} reaches outside of the one that it is part of")
            item = whole.dtype.itemsize
            bytes = whole.untyped()._bytes[offset * item : (offset + count) * item]
            self.known[key] = as_storage(bytes, StorageType("", whole.dtype))

    def tensors(self, begin: int, size: int) -> None:
        self.at, self.end = begin, begin + size
        for _ in range(self.count()):
            key, storage, _ = self.keyed()
            dims, _ = struct.unpack("<ii", self.take(8))
            if not 0 <= dims <= _DIMS:
                raise FormatError(f"tensor {key} is said to have {dims} dimensions")
            numbers = struct.unpack(f"<{2 * dims + 1}q", self.take(8 * (2 * dims + 1)))
            arguments = (self.known.get(storage), numbers[-1], numbers[:dims], numbers[dims:-1])
            self.known[key] = rebuild.tensor_v1(arguments, self.context)
