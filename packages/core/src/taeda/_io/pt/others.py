"""Kinds of value that are rare in checkpoints, as pickles have them: numpy's arrays and scalars,
deques, ranges, namespaces, paths.
"""

from __future__ import annotations

from argparse import Namespace
from collections import deque
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from ..steps import Steps
from ..tree.arrays import is_numpy
from .plain import LONGEST_DEQUE

if TYPE_CHECKING:
    from .emit import Emitter

__all__ = ["Bare", "writer_of"]

Write = Callable[["Emitter", Any], Steps | None]


class Bare:
    """A list or dict that stands for the parts of a container: no level of its own."""

    def __init__(self, content: Any) -> None:
        self.content, self.is_dict = content, isinstance(content, dict)


def writer_of(value: Any) -> Write | None:
    """How a value of one of these kinds is written; None for others."""
    if is_numpy(value, array=True):
        return lambda emitter, v: emitter.once(v, lambda v: _array(emitter, v))
    if is_numpy(value):
        return _scalar
    if isinstance(value, Path):
        return lambda emitter, v: emitter.call("pathlib", "PosixPath", *v.parts)
    return _WRITERS.get(type(value))


def _array(emitter: Emitter, value: Any) -> Steps:
    emitter.name("numpy._core.multiarray", "_reconstruct")
    emitter.out += b"("
    emitter.name("numpy", "ndarray")
    emitter.plain_tuple((0,))
    emitter.value(b"b")
    emitter.out += b"tR"
    emitter.remember(id(value))
    fortran = value.flags.f_contiguous and not value.flags.c_contiguous
    emitter.out += b"("
    emitter.value(1)
    emitter.value(tuple(value.shape))
    _dtype(emitter, value.dtype)
    emitter.value(fortran)
    yield from emitter.parts(value.tobytes("F" if fortran else "C"))
    emitter.out += b"tb"


def _scalar(emitter: Emitter, value: Any) -> None:
    emitter.name("numpy._core.multiarray", "scalar")
    _dtype(emitter, value.dtype)
    emitter.value(value.tobytes())
    emitter.out += b"\x86R"


def _dtype(emitter: Emitter, dtype: Any) -> None:
    if dtype.kind not in "biufc":
        raise TypeError(
            f"cannot save an array of dtype {dtype} in this form: convert it to numbers, or save "
            "with format='safetensors'"
        )
    emitter.call("numpy", "dtype", f"{dtype.kind}{dtype.itemsize}", False, True)
    order = {"=": "<", "|": "|"}.get(dtype.byteorder, dtype.byteorder)
    emitter.value((3, order, None, None, None, -1, -1, 0))
    emitter.out += b"b"


def _deque(emitter: Emitter, value: deque[Any]) -> Steps:
    if value.maxlen is not None and value.maxlen >= LONGEST_DEQUE:
        raise ValueError(f"cannot save a deque whose greatest length is {value.maxlen}")
    yield from emitter.call_of("collections", "deque", Bare(list(value)), value.maxlen)
    emitter.remember(id(value))


def _range(emitter: Emitter, value: range) -> None:
    emitter.call("__builtin__", "xrange", value.start, value.stop, value.step)


def _namespace(module: str) -> Write:
    def write(emitter: Emitter, value: Any) -> Steps:
        emitter.call(module, type(value).__name__)
        emitter.remember(id(value))
        yield from emitter.parts(Bare(dict(vars(value))))
        emitter.out += b"b"

    return lambda emitter, v: emitter.once(v, lambda v: write(emitter, v))


_WRITERS: dict[type, Write] = {
    deque: lambda emitter, v: emitter.once(v, lambda v: _deque(emitter, v)),
    range: _range,
    Namespace: _namespace("argparse"),
    SimpleNamespace: _namespace("types"),
}
