"""Questions about dtypes and tensors: promotion, limits, kinds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._layers import exact, watched
from .._native import core as _core

if TYPE_CHECKING:
    from taeda import Tensor, dtype
else:
    Tensor, dtype = _core.Tensor, _core.dtype

__all__ = [
    "can_cast", "finfo", "iinfo", "is_complex", "is_conj", "is_floating_point", "is_inference",
    "is_neg", "is_nonzero", "is_signed",
    "is_storage", "is_tensor", "numel", "promote_types", "result_type", "typename",
]  # fmt: skip


def is_tensor(obj: Any) -> bool:
    """True for a Tensor and for objects of its subclasses.

    Args:
        obj: any object.

    >>> taeda.is_tensor(taeda.ones(2)), taeda.is_tensor([1.0, 1.0])
    (True, False)
    """
    return isinstance(obj, Tensor)


def is_storage(obj: Any) -> bool:
    """True for a storage object.

    Args:
        obj: any object; a typed or an untyped storage gives True.

    >>> x = taeda.ones(2)
    >>> taeda.is_storage(x.untyped_storage()), taeda.is_storage(x)
    (True, False)
    """
    from ..storage import TypedStorage, UntypedStorage  # late: it needs Tensor complete

    return isinstance(obj, (TypedStorage, UntypedStorage))


def is_floating_point(input: Tensor) -> bool:
    """True if the dtype is a real floating-point one.

    Args:
        input: a tensor of any shape; its dtype answers, its values are not read.

    >>> taeda.is_floating_point(taeda.ones(1)), taeda.is_floating_point(taeda.tensor([1]))
    (True, False)
    """
    if watched or type(input) not in exact:
        return _asked(
            is_floating_point,
            lambda input: _tensor(input, "is_floating_point").is_floating_point(),
            input,
        )
    return _tensor(input, "is_floating_point").is_floating_point()


def is_complex(input: Tensor) -> bool:
    """True if the dtype is complex.

    Args:
        input: a tensor of any shape; its dtype answers, its values are not read.

    >>> taeda.is_complex(taeda.tensor([1j])), taeda.is_complex(taeda.ones(1))
    (True, False)
    """
    if watched or type(input) not in exact:
        return _asked(is_complex, lambda x: _tensor(x, "is_complex").is_complex(), input)
    return _tensor(input, "is_complex").is_complex()


def _asked(function: Any, answer: Any, *inputs: Any) -> Any:
    from .._layers.doors import ask_of  # late: it needs Tensor complete

    return ask_of(function, answer, *inputs)


def _tensor(input: Tensor, asked: str) -> Tensor:
    if not isinstance(input, Tensor):
        raise TypeError(
            f"{asked}(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}"
        )
    return input


def is_conj(input: Tensor) -> bool:
    """True if the tensor is a conjugate that was not written out. TypeError for what is no tensor.

    Args:
        input: a tensor of any shape and dtype.

    >>> taeda.is_conj(taeda.tensor([1j]).conj())
    True
    """
    if watched or type(input) not in exact:
        return _asked(is_conj, lambda input: _tensor(input, "is_conj").is_conj(), input)
    return _tensor(input, "is_conj").is_conj()


def is_neg(input: Tensor) -> bool:
    """True if the tensor is a negative that was not written out.

    Args:
        input: a tensor of any shape and dtype; TypeError for anything else.

    >>> taeda.is_neg(taeda.tensor([1j]).conj().imag)
    True
    """
    if watched or type(input) not in exact:
        return _asked(is_neg, lambda input: _tensor(input, "is_neg").is_neg(), input)
    return _tensor(input, "is_neg").is_neg()


def is_inference(input: Tensor) -> bool:
    """True if the tensor was made in inference mode.

    Args:
        input: a tensor of any shape and dtype; TypeError for anything else.

    >>> with taeda.inference_mode():
    ...     x = taeda.ones(2)
    >>> taeda.is_inference(x)
    True
    """
    if watched or type(input) not in exact:
        return _asked(
            is_inference, lambda input: _tensor(input, "is_inference").is_inference(), input
        )
    return _tensor(input, "is_inference").is_inference()


def is_signed(input: Tensor) -> bool:
    """True if the dtype has negative numbers.

    Args:
        input: a tensor of any shape; its dtype answers. TypeError for anything else.

    >>> taeda.is_signed(taeda.tensor([1])), taeda.is_signed(taeda.tensor([1]).byte())
    (True, False)
    """
    if watched or type(input) not in exact:
        return _asked(is_signed, lambda input: _tensor(input, "is_signed").is_signed(), input)
    return _tensor(input, "is_signed").is_signed()


def typename(obj: Any, /) -> str:
    """Name of an object's type with its module; of a tensor the one that says its dtype, of a class its own.

    Args:
        obj: any object: a tensor, a class, or an instance of one.

    >>> taeda.typename(taeda.ones(1)), taeda.typename(3)
    ('taeda.FloatTensor', 'int')
    """
    if isinstance(obj, Tensor):
        return obj.type()
    kind = obj if isinstance(obj, type) or hasattr(obj, "__qualname__") else type(obj)
    module = getattr(kind, "__module__", "") or ""
    name = getattr(kind, "__qualname__", kind.__name__)
    return name if module in ("", "builtins", "__builtin__") else f"{module}.{name}"


def numel(input: Tensor) -> int:
    """Number of elements.

    Args:
        input: a tensor of any shape and dtype.

    >>> taeda.numel(taeda.ones(2, 3))
    6
    """
    if watched or type(input) not in exact:
        return _asked(numel, lambda x: _tensor(x, "numel").numel(), input)
    return _tensor(input, "numel").numel()


def is_nonzero(input: Tensor) -> bool:
    """True if the only element is not zero; RuntimeError for a tensor of several elements or of none.

    Args:
        input: a tensor of one element, of any rank and dtype.

    >>> taeda.is_nonzero(taeda.tensor([0.0])), taeda.is_nonzero(taeda.tensor(2))
    (False, True)
    """
    if watched or type(input) not in exact:
        return _asked(is_nonzero, lambda input: bool(input), input)
    return bool(input)


def promote_types(type1: dtype, type2: dtype) -> dtype:
    """The smallest dtype that both fit in; RuntimeError for pairs that do not promote.

    Args:
        type1, type2: dtypes; their order does not matter.

    >>> taeda.promote_types(taeda.int32, taeda.float16)
    taeda.float16
    """
    if watched:
        return _asked(promote_types, _core.promote, type1, type2)
    return _core.promote(type1, type2)


def result_type(tensor1: Any, tensor2: Any) -> dtype:
    """The dtype that an elementwise operation on two tensors or numbers gives.

    Args:
        tensor1, tensor2: tensors, or numbers of Python, which count less than tensors do.

    >>> taeda.result_type(taeda.tensor([1, 2]), 1.5)
    taeda.float32
    >>> taeda.result_type(taeda.ones(1, dtype=taeda.float16), taeda.ones(1))
    taeda.float32
    """
    if watched or type(tensor1) not in exact or type(tensor2) not in exact:
        return _asked(result_type, _core.result_type, tensor1, tensor2)
    return _core.result_type(tensor1, tensor2)


def can_cast(from_: dtype, to: dtype) -> bool:
    """May a result of dtype `from_` be written into a tensor of dtype `to`?

    Args:
        from_: the dtype that a computation gives.
        to: the dtype of the tensor that is to hold it.

    >>> taeda.can_cast(taeda.int32, taeda.float32), taeda.can_cast(taeda.float32, taeda.int32)
    (True, False)
    """
    if watched:
        return _asked(can_cast, _core.can_cast, from_, to)
    return _core.can_cast(from_, to)


_FLOATS = {  # bits, exponent bits' minimum, mantissa bits: eps = 2**-mantissa
    "float16": (16, 2.0**-14, 65504.0, 2.0**-10, 0.001, 2.0**-24),
    "bfloat16": (16, 2.0**-126, 3.3895313892515355e38, 2.0**-7, 0.01, 2.0**-133),
    "float32": (32, 2.0**-126, 3.4028234663852886e38, 2.0**-23, 1e-6, 2.0**-149),
    "float64": (64, 2.0**-1022, 1.7976931348623157e308, 2.0**-52, 1e-15, 5e-324),
    "float8_e4m3fn": (8, 2.0**-6, 448.0, 0.125, 1.0, 2.0**-9),
    "float8_e5m2": (8, 2.0**-14, 57344.0, 0.25, 1.0, 2.0**-16),
    "float8_e4m3fnuz": (8, 2.0**-7, 240.0, 0.125, 1.0, 2.0**-10),
    "float8_e5m2fnuz": (8, 2.0**-15, 57344.0, 0.25, 1.0, 2.0**-17),
}


class finfo:
    """Limits of a floating-point dtype (of the default dtype if none is given): bits eps max min
    tiny resolution.

    Args:
        type: a floating-point dtype, or a complex one, which counts as that of its parts. The
            default dtype where it is None; TypeError for any other dtype.

    >>> taeda.finfo(taeda.float32).eps
    1.1920928955078125e-07
    """

    __module__ = "taeda"

    def __init__(self, type: dtype | None = None) -> None:
        chosen = _core.get_default_dtype() if type is None else type
        if not isinstance(chosen, dtype):
            raise TypeError(f"finfo() wants a floating-point dtype, got {chosen!r}")
        name = str(chosen.to_real()).rpartition(".")[2]
        if name not in _FLOATS or not (chosen.is_floating_point or chosen.is_complex):
            raise TypeError(
                f"torch.finfo() requires a floating point input type. Use iinfo to handle {chosen!r}".replace(
                    "torch.", "taeda."
                )
            )
        self.bits, self.tiny, self.max, self.eps, self.resolution, _ = _FLOATS[name]
        self.min = -self.max
        self.smallest_normal = self.tiny
        self.dtype = name

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
            f"smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, dtype={self.dtype})"
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, finfo) and self.dtype == other.dtype

    def __hash__(self) -> int:
        return hash(("finfo", self.dtype))


class iinfo:
    """Limits of an integer dtype: bits max min.

    Args:
        type: an integer dtype, quantized ones too. TypeError for bool, floats and complex numbers.

    >>> taeda.iinfo(taeda.int8).max
    127
    """

    __module__ = "taeda"

    def __init__(self, type: dtype) -> None:
        if (
            not isinstance(type, dtype)
            or type.is_floating_point
            or type.is_complex
            or type is _core.bool
        ):
            raise TypeError(
                f"iinfo() wants an integer dtype, got {type!r}; use finfo for floating-point ones"
            )
        self.bits = type.itemsize * 8
        self.max = 2 ** (self.bits - type.is_signed) - 1
        self.min = -(2 ** (self.bits - 1)) if type.is_signed else 0
        self.dtype = str(type).rpartition(".")[2]

    def __repr__(self) -> str:
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, iinfo) and self.dtype == other.dtype

    def __hash__(self) -> int:
        return hash(("iinfo", self.dtype))
