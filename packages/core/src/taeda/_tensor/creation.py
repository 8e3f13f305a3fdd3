"""Tensors from Python data and from arrays: tensor, as_tensor, asarray, from_numpy, frombuffer."""

from __future__ import annotations

import functools
import operator
from typing import TYPE_CHECKING, Any

from taeda._warnings import warn

from .._layers import watched
from .._layers.foreign import remark
from .._native import core as _core

if TYPE_CHECKING:
    from taeda import Tensor
else:
    Tensor = _core.Tensor

__all__ = ["as_tensor", "asarray", "from_file", "from_numpy", "frombuffer", "tensor"]

_NUMPY = {
    "bool": "bool", "uint8": "uint8", "int8": "int8", "int16": "int16", "int32": "int32", "int64": "int64",
    "uint16": "uint16", "uint32": "uint32", "uint64": "uint64", "float16": "float16", "float32": "float32",
    "float64": "float64", "complex64": "complex64", "complex128": "complex128", "bfloat16": "bfloat16",
    "float8_e4m3fn": "float8_e4m3fn", "float8_e5m2": "float8_e5m2", "float8_e4m3fnuz": "float8_e4m3fnuz",
    "float8_e5m2fnuz": "float8_e5m2fnuz", "float8_e8m0fnu": "float8_e8m0fnu",
}  # fmt: skip


def from_numpy(ndarray: Any) -> Tensor:
    """A tensor on the memory of a numpy array: writes to one are seen in the other.

    TypeError for what is no array, or for a dtype without a twin here; ValueError for negative
    strides, and for elements at addresses that are no multiples of their size.

    Args:
        ndarray: an array of numpy in the machine's byte order. One that cannot be written warns.

    >>> import numpy as np
    >>> taeda.from_numpy(np.arange(3)).tolist()
    [0, 1, 2]
    """
    made = _core.from_array(ndarray)
    return _from_unusual(ndarray) if made is None else made


def _from_unusual(ndarray: Any) -> Tensor:
    """Arrays that cannot be written, of subclasses, and of dtypes that numpy has from elsewhere."""
    import numpy as np

    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(ndarray).__name__}){remark(ndarray)}")
    name = _name_of(ndarray.dtype)
    if not ndarray.dtype.isnative:
        raise TypeError(
            f"can't convert np.ndarray of type {ndarray.dtype}: its byte order is not the "
            "machine's. Convert it first: "
            f"array.astype(array.dtype.newbyteorder('='))."
        )
    if not ndarray.flags.writeable:
        warn(
            "The given NumPy array is not writable: a write to the tensor would change memory that must not "
            "change. Copy the array to protect its data.",
            UserWarning,
        )
    kind = getattr(_core, name)
    plain = (
        ndarray.view(f"u{ndarray.dtype.itemsize}")
        if ndarray.dtype.kind in "V" or name.startswith(("bf", "float8"))
        else ndarray
    )
    return _core.from_buffer(plain, kind)


def _name_of(dtype: Any) -> str:
    """Our name of a dtype of numpy's; TypeError if there is none."""
    name = _NUMPY.get(dtype.name)
    if name is None:
        raise TypeError(
            f"can't convert np.ndarray of type {dtype}. The supported types are: {', '.join(_NUMPY)}."
        )
    return name


def frombuffer(
    buffer: Any, *, dtype: Any, count: int = -1, offset: int = 0, requires_grad: bool = False
) -> Tensor:
    """A 1-D tensor on the memory of an object with the buffer protocol.

    `count` elements (-1: all) from `offset` bytes on. ValueError if the buffer is empty or too
    short or there is none, RuntimeError if it has gaps.

    Args:
        buffer: bytes, bytearray, memoryview, array and the like, without gaps.
        dtype: how the bytes are read; it must be given. TypeError for what is no dtype.
        count: how many elements; negative for all that are there, whose bytes must then be a
            multiple of the element's size. Not 0 (default: -1).
        offset: bytes before the first element, 0 or more and less than the buffer's length.
        requires_grad: whether the tensor asks for a gradient; False by default.

    >>> taeda.frombuffer(bytearray(b"\\x01\\x00\\x02\\x00"), dtype=taeda.int16).tolist()
    [1, 2]
    """
    if not isinstance(dtype, _core.dtype):
        raise TypeError(
            f"frombuffer(): argument 'dtype' must be taeda.dtype, not {type(dtype).__name__}"
        )
    view, size = _bytes_of(buffer), dtype.itemsize
    if view.nbytes == 0 or count == 0:
        raise ValueError(f"both buffer length ({view.nbytes}) and count ({count}) must not be 0")
    if not 0 <= offset < view.nbytes:
        raise ValueError(
            f"offset ({offset} bytes) must be non-negative and no greater than buffer length "
            f"({view.nbytes} bytes) minus 1"
        )
    if count < 0 and (view.nbytes - offset) % size:
        raise ValueError(
            f"buffer length ({view.nbytes - offset} bytes) after offset ({offset} bytes) must be a "
            f"multiple of element size ({size})"
        )
    if count > 0 and offset + count * size > view.nbytes:
        raise ValueError(
            f"requested buffer length ({count} * {size} bytes) after offset ({offset} bytes) must "
            f"not be greater than actual buffer length ({view.nbytes} bytes)"
        )
    stop = view.nbytes if count < 0 else offset + count * size
    made = _core.on_storage(
        _core.from_buffer(view[offset:stop], _core.uint8),
        dtype,
        ((stop - offset) // size,),
        (1,),
        0,
    )
    return made.requires_grad_(requires_grad)


def from_file(
    filename: Any,
    shared: bool | None = None,
    size: int = 0,
    *,
    dtype: Any = None,
    device: Any = "cpu",
    requires_grad: bool = False,
) -> Tensor:
    """A 1-D tensor of the first `size` elements of a file, mapped into memory.

    With `shared` writes reach the file, which is created or lengthened if needed; else they stay private.
    RuntimeError if the file cannot be opened or is too short, and for a device other than the cpu.

    Args:
        filename: path of the file.
        shared: whether writes to the tensor reach the file; None and False keep them private.
        size: number of elements, 0 or more; RuntimeError for a negative one.
        dtype: how the bytes are read; the default dtype where it is None.
        device: only the cpu (default: "cpu").
        requires_grad: whether the tensor asks for a gradient; False by default.

    >>> import numpy
    >>> numpy.arange(3.0).tofile("numbers.bin")
    >>> taeda.from_file("numbers.bin", size=3, dtype=taeda.float64)
    tensor([0., 1., 2.], dtype=taeda.float64)
    """
    if _core.device(device).type != "cpu":
        raise RuntimeError(f"from_file: a file is mapped on the cpu, not on {device}: use to()")
    kind = _core.get_default_dtype() if dtype is None else dtype
    if size < 0:
        raise RuntimeError(f"from_file: the number of elements must not be negative, got {size}")
    from .._storage.sharing import from_file as mapped

    whole = mapped(filename, bool(shared), size * kind.itemsize)
    return _core.on_storage(whole, kind, (size,), (1,), 0).requires_grad_(requires_grad)


def _bytes_of(buffer: Any) -> memoryview:
    try:
        view = memoryview(buffer)
    except TypeError:
        raise ValueError(
            f"object does not implement Python buffer protocol: frombuffer() got {type(buffer).__name__}"
        ) from None
    if not view.c_contiguous:
        raise RuntimeError(
            "could not retrieve buffer from object: its memory has gaps; copy it first"
        )
    return view.cast("B")


_is_numpy = _core.is_numpy


def _read(data: Any, dtype: Any) -> Tensor:
    """A tensor of `data`; shares memory only with tensors and arrays."""
    if isinstance(data, Tensor):
        return data
    if _is_numpy(data):
        return _of_array(data)
    if isinstance(data, (list, tuple, int, float, complex)):
        made = _core.from_sequence(data, dtype)
        return _of_mixed(data, dtype) if made is None else made
    from .._storage.untyped import UntypedStorage  # late: it needs Tensor complete

    if isinstance(data, UntypedStorage):
        return _of_bytes(data, dtype)
    known = _known(data)
    if known is not data:
        return _read(known, dtype)
    if _is_like_number(data):
        return _read(_number(data), dtype)
    raise _no_data(data)


def _without_class(x: Tensor) -> Tensor:
    """The same elements as a Tensor, where a subclass computes nothing by itself; nothing of it is called."""
    if type(x) is Tensor or type(x).__torch_dispatch__ is not Tensor.__torch_dispatch__:
        return x
    from .._layers import DisableTorchFunctionSubclass  # late: it needs Tensor complete

    with DisableTorchFunctionSubclass():
        return x.as_subclass(Tensor)


def _of_bytes(storage: Any, dtype: Any) -> Tensor:
    """The elements that a storage without a dtype has in this one: a copy."""
    kind = dtype or _core.int64
    count = storage.nbytes() // kind.itemsize
    own = storage._bytes.clone()  # of a slice its bytes alone, which begin at an element now
    return _core.on_storage(own, kind, (count,), (1,), 0)


def _is_like_number(x: Any) -> bool:
    """Does it say which number it is, as a size in a trace does?"""
    return hasattr(x, "__index__") or hasattr(x, "__float__")


def _number(x: Any) -> int | float:
    return operator.index(x) if hasattr(x, "__index__") else float(x)


def _of_array(data: Any) -> Tensor:
    """An array or a scalar of numpy, in any byte order; shared if it can be written and its
    elements lie straight.
    """
    import numpy as np

    array = np.asarray(data)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    shared = array.flags.writeable and array.flags.aligned
    return from_numpy(array if shared else array.copy())


# ---- sequences that hold arrays, tensors or sequences other than lists ----
# First every entry is brought to a form that is known, then all of them say which dtype they
# promote to, then they are read in that dtype: a number is never rounded to a dtype that is not the
# result's.


def _of_mixed(data: Any, dtype: Any) -> Tensor:
    plain = _plain(data, 0)
    return _joined(plain, _common_dtype(plain) if dtype is None else dtype)


def _plain(item: Any, depth: int) -> Any:
    """Nested lists of numbers, arrays and tensors."""
    if depth > _MAX_DEPTH:
        raise ValueError(f"too many dimensions: nested deeper than {_MAX_DEPTH}")
    known = _known(item)
    if isinstance(known, (list, tuple)):
        return [_plain(entry, depth + 1) for entry in known]
    if isinstance(known, (Tensor, int, float, complex)) or _is_numpy(known):
        return known
    if _is_like_number(known):
        return _number(known)
    raise _no_data(item)


_MAX_DEPTH = 64


def _known(item: Any) -> Any:
    """Foreign arrays and sequences as arrays, tensors or lists; anything else as it is.
    TypeError for text.
    """
    if isinstance(item, (list, tuple, Tensor, int, float, complex)) or _is_numpy(item):
        return item
    if isinstance(item, (str, bytes)):
        raise TypeError(
            f"invalid data type '{type(item).__name__}': {item!r} is text, wanted numbers"
        )
    if hasattr(item, "__array__") or hasattr(item, "__array_interface__"):
        import numpy as np

        return np.asarray(item)
    if hasattr(item, "__dlpack__"):
        from ..utils.dlpack import from_dlpack  # late: it needs Tensor complete

        return from_dlpack(item)
    if hasattr(item, "__len__") and hasattr(item, "__getitem__") and not isinstance(item, dict):
        return [item[i] for i in range(len(item))]
    return item


def _no_data(item: Any) -> RuntimeError:
    return RuntimeError(
        f"Could not infer dtype of {type(item).__name__}: wanted a number, a sequence, an array or a tensor, "
        f"got {item!r:.200}"
    )


def _common_dtype(item: Any) -> Any:
    """What all leaves promote to; RuntimeError for two that do not promote."""
    if isinstance(item, list):
        kinds = list(dict.fromkeys(map(_common_dtype, item))) or [_core.get_default_dtype()]
        return functools.reduce(_promote, kinds)
    if isinstance(item, Tensor):
        return item.dtype
    if _is_numpy(item):
        return getattr(_core, _name_of(item.dtype))
    return _core.from_sequence(item, None).dtype


def _promote(a: Any, b: Any) -> Any:
    return a if a is _core.complex128 else _core.promote(a, b)  # that one holds every number


def _joined(item: Any, dtype: Any) -> Tensor:
    if isinstance(item, Tensor):
        part = item.detach()
        return _cast(part if type(part) is Tensor else part.as_subclass(Tensor), dtype)
    if _is_numpy(item):
        import numpy as np

        return _cast(_of_array(np.asarray(item, order="C")), dtype)  # no steps backwards
    made = _core.from_sequence(item, dtype)
    if made is not None:
        return made
    parts = [_joined(entry, dtype) for entry in item]
    for part in parts:
        if part.shape != parts[0].shape:
            raise ValueError(
                f"expected entries of one shape: {tuple(part.shape)} stands beside {tuple(parts[0].shape)}"
            )
    return _core.functions[""]["stack"](parts)


def _cast(part: Tensor, dtype: Any) -> Tensor:
    """To `dtype`, but refused where a value does not fit: element by element if the dtype may be narrower."""
    if part.dtype is dtype:
        return part
    if dtype.is_complex or (dtype.is_floating_point and not part.dtype.is_complex):
        return part.to(dtype)
    return _core.from_sequence(part.tolist(), dtype)


def _placed(made: Tensor, dtype: Any, device: Any) -> Tensor:
    target = _core.get_default_device() if device is None else _core.device(device)
    if dtype is None and target == made.device:
        return made
    if dtype is not None and dtype is not made.dtype:
        made = made.to(dtype)
    return made if target.type == made.device.type else made.to(target)


def _others() -> Any:
    """What asks a mode for the call of a function of this module; None where there is none to ask. No
    class of an argument is asked.
    """
    from .._layers.doors import call_others, is_for_others  # late: it needs Tensor complete

    return call_others if is_for_others(()) else None


def tensor(
    data: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
    names: Any = None,
) -> Tensor:
    """A new leaf tensor with a copy of `data`: a number, nested sequences, an array or a tensor.

    The dtype is what all leaves promote to. Numbers of Python count as bool, int64, the default
    float and the default complex; scalars of numpy, arrays and tensors count as what they are. A
    tensor of one element in a list is a number. ValueError for ragged sequences, TypeError for
    numbers beside sequences and for text, RuntimeError for what is no data and for dtypes that do
    not promote.

    Args:
        data: a number, nested lists or tuples of one length at each level, an array, or a tensor
            (which warns: `clone` says the same). It is copied. An UntypedStorage gives the
            elements that its bytes are in `dtype`, int64 if that is None.
        dtype: of the result; None takes what the leaves promote to.
        device: of the result; None takes that of a tensor in `data`, and the default device for
            anything else.
        requires_grad: whether the result asks for a gradient; False by default.
        pin_memory: whether the result lies in pinned memory; False by default.
        names: of the dimensions, a sequence of str and None; None by default: no names.

    >>> taeda.tensor([[1, 2], [3, 4]]).shape
    taeda.Size([2, 2])
    """
    if watched and (others := _others()) is not None:
        return others(tensor, ())
    if isinstance(data, Tensor):
        warn(
            "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
            "sourceTensor.detach().clone().requires_grad_(True), rather than tensor(sourceTensor).",
            UserWarning,
        )
        data = _without_class(data)
    made = _read(data, dtype).detach()
    placed = _placed(
        made, dtype, device if device is not None or not isinstance(data, Tensor) else data.device
    )
    if placed is made and (
        isinstance(data, Tensor) or _is_numpy(data) or hasattr(data, "__array__")
    ):
        placed = made.clone(memory_format=_core.contiguous_format)
    if pin_memory:
        placed = placed.pin_memory()
    if names is not None:
        from .._names.dims import checked, give  # late: it needs Tensor complete

        give(placed, checked(names, placed.dim()))
    return placed.requires_grad_() if requires_grad else placed


def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """A tensor of `data` that shares memory (and autograd history) where dtype and device allow.

    Args:
        data: as in `tensor`; tensors and arrays are shared, all else is copied.
        dtype: of the result; None keeps that of `data`. Another dtype than that makes a copy.
        device: of the result; None keeps a tensor's own, and takes the default device for all else.

    >>> import numpy
    >>> array = numpy.zeros(2)
    >>> x = taeda.as_tensor(array)
    >>> x[0] = 7
    >>> array
    array([7., 0.])
    """
    if watched and (others := _others()) is not None:
        return others(as_tensor, ())
    made = _read(data, dtype)
    return _placed(
        made, dtype, made.device if device is None and isinstance(data, Tensor) else device
    )


def asarray(
    obj: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    copy: bool | None = None,
    requires_grad: bool | None = None,
) -> Tensor:
    """A tensor of `obj`: shares by default, copies with copy=True, ValueError with copy=False if it
    cannot share.

    A tensor keeps its autograd history unless `requires_grad` is False. An object with `__dlpack__`
    or with numpy's protocols is an array; any other buffer is read as elements of `dtype`, the
    default float if none is given.

    Args:
        obj: as in `tensor`, or an object with the buffer protocol.
        dtype: of the result; None keeps that of `obj`.
        device: of the result; None takes the default device.
        copy: True always copies, False refuses to, None copies only where it must.
        requires_grad: True asks for a gradient, False cuts the history off, None leaves it as it
            came.

    >>> taeda.asarray(bytearray(4), dtype=taeda.int16).tolist()
    [0, 0]
    """
    if watched and (others := _others()) is not None:
        return others(asarray, ())
    made = _read_buffer(obj, dtype) if _is_buffer(obj) else _read(obj, dtype)
    placed = _placed(made, dtype, device)
    shares = placed is made and not isinstance(obj, (list, tuple, int, float, complex))
    if copy is False and not shares:
        raise ValueError(
            "can't alias the given object: it is no array or tensor of the wanted dtype and "
            "device; use copy=None"
        )
    if copy and shares:
        placed = placed.clone()
    if requires_grad is False and placed.requires_grad:
        return placed.detach()
    return placed.requires_grad_() if requires_grad and placed.is_leaf else placed


def _is_buffer(obj: Any) -> bool:
    """Bytes without a word on what they mean."""
    if _is_numpy(obj) or isinstance(obj, (Tensor, list, tuple, int, float, complex, str)):
        return False
    if any(hasattr(obj, name) for name in ("__dlpack__", "__array__", "__array_interface__")):
        return False
    try:
        memoryview(obj)
    except TypeError:
        return False
    return True


def _read_buffer(obj: Any, dtype: Any) -> Tensor:
    return frombuffer(obj, dtype=_core.get_default_dtype() if dtype is None else dtype)
