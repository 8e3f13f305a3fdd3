"""NCCL's library as Python sees it: where it lies, the functions that are used, an exception for
every code but success.

Its interface in C is the same in every version 2, so no binding is needed. TAEDA_LIBNCCL names
another library.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import os
from pathlib import Path
from typing import Any

import taeda

from .._errors import DistBackendError
from .._types import RedOpType, ReduceOp

__all__ = ["EXTRA", "Library", "is_available", "library", "reduction", "type_of"]

EXTRA = "pip install nvidia-nccl-cu12"
ID_BYTES = 128
_UNDER_WAY = 7  # ncclInProgress

_TYPES = {
    taeda.int8: 0, taeda.uint8: 1, taeda.int32: 2, taeda.uint32: 3, taeda.int64: 4,
    taeda.uint64: 5, taeda.float16: 6, taeda.float32: 7, taeda.float64: 8, taeda.bfloat16: 9,
}  # fmt: skip
BYTES = _TYPES[taeda.uint8]
_SUM, _PRODUCT, _MAX, _MIN = range(4)
_OPS = {
    RedOpType.SUM: _SUM, RedOpType.AVG: _SUM, RedOpType.PREMUL_SUM: _SUM,
    RedOpType.PRODUCT: _PRODUCT, RedOpType.MAX: _MAX, RedOpType.MIN: _MIN,
}  # fmt: skip
_BOOLS = {
    RedOpType.SUM: _MAX, RedOpType.MAX: _MAX, RedOpType.BOR: _MAX,
    RedOpType.PRODUCT: _MIN, RedOpType.MIN: _MIN, RedOpType.BAND: _MIN,
}  # fmt: skip

_Pointer, _Size, _Int = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int


class _UniqueId(ctypes.Structure):
    _fields_ = (("internal", ctypes.c_char * ID_BYTES),)


_ARGUMENTS: dict[str, list[Any]] = {
    "GetUniqueId": [ctypes.POINTER(_UniqueId)],
    "CommInitRank": [ctypes.POINTER(_Pointer), _Int, _UniqueId, _Int],
    "CommGetAsyncError": [_Pointer, ctypes.POINTER(_Int)],
    "CommAbort": [_Pointer],
    "CommDestroy": [_Pointer],
    "AllReduce": [_Pointer, _Pointer, _Size, _Int, _Int, _Pointer, _Pointer],
    "Reduce": [_Pointer, _Pointer, _Size, _Int, _Int, _Int, _Pointer, _Pointer],
    "Broadcast": [_Pointer, _Pointer, _Size, _Int, _Int, _Pointer, _Pointer],
    "AllGather": [_Pointer, _Pointer, _Size, _Int, _Pointer, _Pointer],
    "ReduceScatter": [_Pointer, _Pointer, _Size, _Int, _Int, _Pointer, _Pointer],
    "Send": [_Pointer, _Size, _Int, _Int, _Pointer, _Pointer],
    "Recv": [_Pointer, _Size, _Int, _Int, _Pointer, _Pointer],
    "GroupStart": [],
    "GroupEnd": [],
}


def type_of(dtype: taeda.dtype) -> int | None:
    """NCCL's number of a dtype, None where it has none."""
    return _TYPES.get(dtype)


def reduction(op: ReduceOp, dtype: taeda.dtype) -> tuple[int, int]:
    """NCCL's numbers of the type and the operation. ValueError for what it does not reduce."""
    if dtype is taeda.bool and op.op in _BOOLS:
        return BYTES, _BOOLS[op.op]
    if dtype.is_complex and op.op is not RedOpType.PRODUCT and op.op in _OPS:
        return _TYPES[taeda.float32 if dtype is taeda.complex64 else taeda.float64], _OPS[op.op]
    if dtype not in _TYPES or op.op not in _OPS:
        raise ValueError(
            f"NCCL has no {op.name} of {dtype}; reduce on the cpu, or in another dtype"
        )
    return _TYPES[dtype], _OPS[op.op]


class Library:
    """The functions by their names without `nccl`; DistBackendError for every result but success."""

    def __init__(self, path: str) -> None:
        self._functions: dict[str, Any] = {}
        loaded = ctypes.CDLL(path)
        for name, arguments in _ARGUMENTS.items():
            function = getattr(loaded, f"nccl{name}")
            function.argtypes, function.restype = arguments, _Int
            self._functions[name] = function
        self._words = loaded.ncclGetErrorString
        self._words.argtypes, self._words.restype = [_Int], ctypes.c_char_p
        self._last = loaded.ncclGetLastError
        self._last.argtypes, self._last.restype = [_Pointer], ctypes.c_char_p

    def call(self, name: str, *arguments: Any, comm: int | None = None) -> None:
        """Call a function. DistBackendError tells its code in NCCL's own words."""
        code = self._functions[name](*arguments)
        if code:
            raise DistBackendError(f"nccl{name}: {self.describe(code, comm)}")

    def describe(self, code: int, comm: int | None) -> str:
        words = self._words(code) or b"unknown"
        last = self._last(comm) or b""
        return ": ".join(
            filter(None, (words.decode(errors="replace"), last.decode(errors="replace")))
        )

    def new_id(self) -> bytes:
        """A fresh id, for the store."""
        made = _UniqueId()
        self.call("GetUniqueId", ctypes.byref(made))
        return ctypes.string_at(ctypes.byref(made), ID_BYTES)

    def new_communicator(self, size: int, identity: bytes, rank: int) -> int:
        """This rank's part of a communicator; returns when all ranks have come."""
        made = _Pointer()
        whole = _UniqueId.from_buffer_copy(identity.ljust(ID_BYTES, b"\0"))
        self.call("CommInitRank", ctypes.byref(made), size, whole, rank)
        assert made.value is not None
        return made.value

    def trouble(self, comm: int) -> str:
        """What went wrong in work that was begun before; empty if nothing did."""
        told = _Int()
        self.call("CommGetAsyncError", comm, ctypes.byref(told), comm=comm)
        return "" if told.value in (0, _UNDER_WAY) else self.describe(told.value, comm)


@functools.cache
def library() -> Library:
    """The library. DistBackendError says what to install where it is missing."""
    tried = []
    for path in _places():
        try:
            return Library(path)
        except (OSError, AttributeError) as error:  # absent, or it lacks a function
            tried.append(str(error))
    raise DistBackendError(
        f"backend 'nccl' needs NCCL's library, version 2.18 or later: {EXTRA} ({'; '.join(tried)})"
    )


def _places() -> list[str]:
    if named := os.environ.get("TAEDA_LIBNCCL"):
        return [named]
    found = importlib.util.find_spec("nvidia")
    folders = list(found.submodule_search_locations or ()) if found else []
    wheels = [Path(folder) / "nccl" / "lib" / "libnccl.so.2" for folder in folders]
    return [*(str(path) for path in wheels if path.exists()), "libnccl.so.2"]


def is_available() -> bool:
    """Are the library and a device there?"""
    try:
        library()
    except DistBackendError:
        return False
    return taeda.cuda.is_available()
