"""numpy's arrays and scalars as JSON and back. An array whose dtype is a tensor's is saved as that tensor."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor
from taeda._native import core

from ..safetensors import FormatError

__all__ = [
    "array_from",
    "array_node",
    "dtype_from",
    "dtype_node",
    "is_numpy",
    "scalar_from",
    "scalar_node",
]

Json = Any


def is_numpy(value: Any, array: bool = False) -> bool:
    """Whether this is one of numpy's scalars (or arrays). A program that has not imported numpy has none."""
    if not core.is_numpy(value):
        return False
    import numpy as np

    return type(value) is np.ndarray if array else isinstance(value, np.generic)


def array_node(value: Any, path: str, node: Callable[[Any, str], Json]) -> Json:
    """The JSON of an array; its numbers go to `node` as a tensor."""
    _check(value.dtype, path)
    tensor = _as_tensor(value)
    if tensor is not None:
        return {"ndarray": [node(tensor, path), None, list(value.shape)]}
    import numpy as np

    content = taeda.from_numpy(np.frombuffer(bytearray(value.tobytes()), np.uint8))
    return {"ndarray": [node(content, path), _described(value.dtype), list(value.shape)]}


def _as_tensor(value: Any) -> Tensor | None:
    if not value.dtype.isnative or any(step < 0 for step in value.strides):
        return None
    try:
        return taeda.from_numpy(value if value.flags.writeable else value.copy())
    except (TypeError, ValueError):  # a dtype or strides that no tensor has
        return None


def scalar_node(value: Any, path: str) -> Json:
    """The JSON of a numpy scalar."""
    _check(value.dtype, path)
    return {"numpy": [_described(value.dtype), base64.b64encode(value.tobytes()).decode()]}


def _check(dtype: Any, path: str) -> None:
    if dtype.hasobject:
        raise TypeError(
            f"cannot save '{path}': a numpy array of Python objects is no data; use a list"
        )


def dtype_node(value: Any, path: str) -> Json | None:
    """The JSON of a numpy dtype; None for other things."""
    if not any(kind.__module__.partition(".")[0] == "numpy" for kind in type(value).__mro__):
        return None
    import numpy as np

    if not isinstance(value, np.dtype):
        return None
    _check(value, path)
    return {"numpy.dtype": _described(value)}


def _described(dtype: Any) -> Json:
    import numpy as np

    return np.lib.format.dtype_to_descr(dtype)


# ---- and back ----


def array_from(tensor: Any, described: Json, shape: Any) -> Any:
    """The array in a tensor; with a described dtype, in its bytes."""
    import numpy as np

    if not isinstance(tensor, Tensor) or tensor.requires_grad or tensor.device.type != "cpu":
        raise FormatError("an array wants a plain tensor on the cpu")
    if described is None:
        return tensor.numpy()
    return np.ndarray(tuple(shape), dtype_from(described), buffer=tensor.numpy())


def scalar_from(described: Json, content: Any) -> Any:
    """A numpy scalar from the base64 of its bytes."""
    import numpy as np

    data = base64.b64decode(content, validate=True)
    dtype = dtype_from(described)
    if dtype.kind in "SU" and not dtype.itemsize and not any(data):
        return dtype.type()  # an empty text, which numpy writes as one zero
    if len(data) != dtype.itemsize:
        raise FormatError(f"a {dtype} has {dtype.itemsize} bytes, the file gives {len(data)}")
    return np.ndarray((), dtype, buffer=bytearray(data))[()]


def dtype_from(described: Json) -> Any:
    """The numpy dtype that a description gives; FormatError for one of Python objects."""
    import numpy as np

    dtype = np.lib.format.descr_to_dtype(_with_tuples(described))
    if dtype.hasobject:
        raise FormatError("a numpy dtype of Python objects is not read")
    return dtype


def _with_tuples(described: Json) -> Any:
    """Fields as numpy describes them, whose tuples JSON made lists."""
    if not isinstance(described, list):
        return described
    return [tuple(_field(part, i) for i, part in enumerate(entry)) for entry in described]


def _field(part: Any, place: int) -> Any:
    if place == 1:
        return _with_tuples(part)
    return tuple(part) if isinstance(part, list) else part
