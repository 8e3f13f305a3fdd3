"""numpy's arrays and scalars as data: plain dtypes, and as many bytes as shape and dtype ask for."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

from .context import Context, want
from .errors import RefusedPickle
from .plain import counts

__all__ = ["DtypeRecord", "array", "array_of_bytes", "dtype", "fill", "scalar"]

Arguments = tuple[Any, ...]
_PLAIN = re.compile(r"[<>|=]?(b1|[iu][1248]|f[248]|c8|c16|\?|[bBhHiIlLqQefdFD])")


@dataclass
class DtypeRecord:
    """A dtype by numpy's code, and its order of bytes, which a pickle gives afterwards."""

    code: str
    order: Any = "="  # one of < > | =

    def set_state(self, given: Any) -> None:
        """(version, order, None, None, None, -1, -1, flags)."""
        plain = isinstance(given, tuple) and len(given) == 8 and given[2:5] == (None, None, None)
        if not plain or given[1] not in ("<", ">", "|", "="):
            raise RefusedPickle(
                "a numpy dtype has fields or flags of its own, and only plain ones are read"
            )
        self.order = given[1]

    def numpy(self) -> Any:
        """numpy's object."""
        import numpy as np

        return np.dtype(self.code).newbyteorder(self.order)


def dtype(arguments: Arguments, context: Context) -> DtypeRecord:
    """(code, align, copy)."""
    if len(arguments) not in (1, 3) or not isinstance(arguments[0], (str, bytes)):
        raise RefusedPickle("a numpy dtype is made of its code and two flags")
    code = arguments[0] if isinstance(arguments[0], str) else arguments[0].decode("latin-1")
    if not _PLAIN.fullmatch(code):
        raise RefusedPickle(f"numpy's dtype {code!r:.40} is no number: save numbers or tensors")
    context.budget.spend(100)
    return DtypeRecord(code)


def scalar(arguments: Arguments, context: Context) -> Any:
    """(dtype, bytes)."""
    import numpy as np

    kind, data = want(arguments, (DtypeRecord, bytes), "a numpy scalar")
    made = kind.numpy()
    if len(data) != made.itemsize:
        raise RefusedPickle(f"a numpy scalar of {made} has {len(data)} bytes")
    return np.frombuffer(data, made)[0]


def array(arguments: Arguments, context: Context) -> Any:
    """(ndarray, (0,), b"b"): an empty array, to be filled by `fill`."""
    import numpy as np

    if len(arguments) != 3 or arguments[1:] != ((0,), b"b"):
        raise RefusedPickle("a numpy array begins otherwise than numpy writes it")
    if getattr(arguments[0], "name", "") != "numpy ndarray":
        raise RefusedPickle("a numpy array is of a class of its own: save a plain one")
    context.budget.spend(200)
    return np.empty(0, np.int8)


def fill(target: Any, given: Any, context: Context) -> None:
    """Give an array its content: (version, shape, dtype, is Fortran's order, bytes)."""
    if not isinstance(given, tuple) or len(given) != 5 or type(given[3]) is not bool:
        raise RefusedPickle("a numpy array is given something else than shape, dtype and bytes")
    _, shape, kind, fortran, data = given
    shape, kind = _checked(shape, kind, data)
    context.budget.spend(len(data))
    target.__setstate__((1, shape, kind, fortran, bytes(data)))


def array_of_bytes(arguments: Arguments, context: Context) -> Any:
    """(bytes, dtype, shape, order): how protocol 5 writes one."""
    import numpy as np

    data, kind, shape, order = want(
        arguments, ((bytes, bytearray), DtypeRecord, tuple, str), "a numpy array"
    )
    shape, kind = _checked(shape, kind, data)
    if order not in ("C", "F"):
        raise RefusedPickle(f"a numpy array in the order {order!r:.20}")
    context.budget.spend(200 + len(data))
    return np.frombuffer(bytearray(data), kind).reshape(shape, order=order)


def _checked(shape: Any, kind: Any, data: Any) -> tuple[tuple[int, ...], Any]:
    if not isinstance(kind, DtypeRecord) or not isinstance(data, (bytes, bytearray)):
        raise RefusedPickle("a numpy array is made of shape, dtype and bytes")
    shape, made = counts(shape, "a shape"), kind.numpy()
    if len(shape) > 64 or math.prod(shape) * made.itemsize != len(data):
        raise RefusedPickle(f"a numpy array of shape {shape} and {made} has {len(data)} bytes")
    return shape, made
