"""The names of the first Tensor interface: a class a dtype (`FloatTensor`), construction by sizes
or data, type names.
"""

from __future__ import annotations

from typing import Any

from .._layers.foreign import remark
from .._native import core as _core

Tensor = _core.Tensor
__all__ = [
    "TYPED",
    "TYPED_CUDA",
    "construct",
    "legacy_new",
    "set_default_tensor_type",
    "shown_name",
    "tensor_type",
]

#: the part of a class's name before "Tensor", and the dtype
_DTYPES = {"Float": "float32", "Double": "float64", "Half": "float16", "BFloat16": "bfloat16",
           "Long": "int64", "Int": "int32",
           "Short": "int16", "Char": "int8", "Byte": "uint8", "Bool": "bool"}  # fmt: skip
_COMPLEX = {"ComplexFloat": "complex64", "ComplexDouble": "complex128"}
_KINDS = {name: kind for kind, name in {**_DTYPES, **_COMPLEX}.items()}


def legacy_new(
    cls: type, *args: Any, dtype: Any = None, device: Any = None, **unknown: Any
) -> Tensor:
    """`Tensor(2, 3)`: sizes; `Tensor([1, 2])`: data in the default dtype; `Tensor(t)`: an alias.

    TypeError for keywords other than device, and for mixtures.
    """
    if unknown or dtype is not None:
        raise TypeError(
            f"Tensor() takes sizes or data, not {sorted(unknown) or ['dtype']}: use taeda.tensor()"
        )
    made = construct("Tensor", _core.get_default_dtype(), args, device, any_dtype=True)
    if cls is Tensor:
        return made
    return Tensor._make_subclass(cls, made.detach() if _is_alias(args) else made)


def _is_alias(args: tuple[Any, ...]) -> bool:
    return len(args) == 1 and isinstance(args[0], Tensor)


def _is_storage(value: Any) -> bool:
    return hasattr(value, "_bytes") and isinstance(value._bytes, Tensor)


def construct(
    name: str, dtype: Any, args: tuple[Any, ...], device: Any, *, any_dtype: bool = False
) -> Tensor:
    """No argument: nothing; integers or a Size: uninitialised; a tensor of that dtype: an alias; a
    storage: a tensor on it; else a copy of data.
    """
    functions = _core.functions[""]
    if _is_alias(args):
        if not any_dtype and args[0].dtype != dtype:
            raise TypeError(f"{name}() wants a tensor of {dtype}, not of {args[0].dtype}: use to()")
        return functions["alias"](args[0])
    if len(args) == 1 and _is_storage(args[0]):
        return functions["empty"](0, dtype=dtype).set_(args[0])
    if len(args) == 1 and isinstance(args[0], _core.Size):
        return functions["empty"](tuple(args[0]), dtype=dtype, device=device)
    if all(isinstance(a, int) and not isinstance(a, bool) for a in args):
        return functions["empty"](args or (0,), dtype=dtype, device=device)
    if len(args) == 1:
        from .creation import tensor

        return tensor(args[0], dtype=dtype, device=device)
    kinds = [type(a).__name__ for a in args]
    raise TypeError(f"{name}() wants sizes or one piece of data, got {kinds}")


class TensorType(type):
    """The class of `FloatTensor` and its like: each makes tensors of its dtype, and knows them with
    isinstance.
    """

    dtype: Any
    place: str

    def __call__(cls, *args: Any, device: Any = None) -> Tensor:
        if cls.place == "cpu":
            return construct(cls.__name__, cls.dtype, args, device)
        _check_cuda(cls)
        return construct(cls.__name__, cls.dtype, args, cls.place if device is None else device)

    def __instancecheck__(cls, value: object) -> bool:
        return (
            isinstance(value, Tensor)
            and value.dtype == cls.dtype
            and value.device.type == cls.place
        )

    def __repr__(cls) -> str:
        return f"<class '{cls.__module__}.{cls.__name__}'>"


def _check_cuda(kind: TensorType) -> None:
    import taeda  # late: it needs Tensor complete

    if not taeda.cuda.is_available():
        raise TypeError(
            f"type {kind.__module__}.{kind.__name__} is not available without a CUDA device: use "
            f"taeda.{kind.__name__}, or ask taeda.cuda.is_available() before"
        )


def _typed(kind: str, dtype: str, place: str) -> TensorType:
    doc = f"Tensors of {dtype}: `{kind}Tensor(2, 3)` has these sizes, `{kind}Tensor([1, 2])` these values."
    if place == "cpu":
        doc += f"\n\n>>> taeda.{kind}Tensor([1, 0]).dtype\ntaeda.{dtype}"
    module = "taeda" if place == "cpu" else f"taeda.{place}"
    facts = {"dtype": getattr(_core, dtype), "place": place, "__doc__": doc}
    return TensorType(f"{kind}Tensor", (), {**facts, "__module__": module, "__slots__": ()})


TYPED = {f"{kind}Tensor": _typed(kind, dtype, "cpu") for kind, dtype in _DTYPES.items()}
TYPED_CUDA = {f"{kind}Tensor": _typed(kind, dtype, "cuda") for kind, dtype in _DTYPES.items()}
globals().update(TYPED)


def _named(text: str) -> tuple[Any, str]:
    """The dtype and the kind of device of a name such as "taeda.cuda.FloatTensor"."""
    word = text.removeprefix("taeda.").removeprefix("torch.")
    place = "cuda" if word.startswith("cuda.") else "cpu"
    word = word.removeprefix("cuda.")
    name = {**_DTYPES, **_COMPLEX}.get(word.removesuffix("Tensor"))
    if name is None or not word.endswith("Tensor"):
        wanted = sorted(_KINDS.values())
        raise ValueError(f"invalid type: {text!r}; wanted one of {wanted} followed by 'Tensor'")
    return getattr(_core, name), place


#: the name before the dot in the text of a kind of tensors; see install_as_torch
said_as = ["taeda"]


def shown_name(name: str) -> str:
    """A dotted name as text shows it: torch.relu for taeda.relu where taeda goes by that name."""
    head, dot, tail = name.partition(".")
    return f"{said_as[0]}{dot}{tail}" if head == "taeda" else name


def _dtype_and_place(kind: Any) -> tuple[Any, str | None]:
    """The dtype that a class, its name or a dtype stands for, and the device; None for any."""
    if kind is Tensor or kind in ("taeda.Tensor", "torch.Tensor"):
        return _core.get_default_dtype(), "cpu"
    if isinstance(kind, str):
        return _named(kind)
    if isinstance(kind, TensorType):
        return kind.dtype, kind.place
    if not isinstance(kind, _core.dtype):
        raise ValueError(
            f"invalid type: {kind!r}; wanted a dtype, or a class of tensors such as "
            f"taeda.FloatTensor, or its name{remark(kind)}"
        )
    return kind, None


def tensor_type(self: Tensor, dtype: Any = None, non_blocking: bool = False) -> Any:
    """Without argument the legacy type name ("taeda.FloatTensor"); else the tensor in that dtype,
    and for a name or class on its device.

    Args:
        dtype: a dtype, a class such as `taeda.DoubleTensor`, or its name; None asks for the name.
        non_blocking: as in `to`, where the device changes; False by default.
    """
    if dtype is None:
        name = str(self.dtype).rpartition(".")[2]
        device = "cuda." if self.device.type == "cuda" else ""
        device += "sparse." if self.layout is _core.sparse_coo else ""
        return f"{said_as[0]}.{device}{_KINDS.get(name, name.title())}Tensor"
    wanted, place = _dtype_and_place(dtype)
    if place is None or self.device.type in (place, "meta"):
        return self.to(wanted)
    return self.to(place, wanted, non_blocking=non_blocking)


def set_default_tensor_type(t: Any) -> None:
    """Make the dtype of `t` and its device the default; see `set_default_dtype` and `set_default_device`.

    Args:
        t: a class of floating-point tensors such as `taeda.DoubleTensor` or
            `taeda.cuda.HalfTensor`, or its name such as "taeda.FloatTensor".

    >>> taeda.set_default_tensor_type(taeda.DoubleTensor)
    >>> taeda.ones(1).dtype
    taeda.float64
    >>> taeda.set_default_tensor_type("taeda.FloatTensor")

    TypeError for what is no class or name, is not of floating point, or is of a device that is not
    there; ValueError for a name that no class has.
    """
    if not isinstance(t, (str, TensorType)):
        raise TypeError(
            f"set_default_tensor_type() wants a class of tensors or its name, not {t!r}"
        )
    dtype, place = _dtype_and_place(t)
    if not dtype.is_floating_point:
        raise TypeError(f"only floating-point types are supported as the default type, not {dtype}")
    if place == "cuda":
        _check_cuda(TYPED_CUDA[f"{_KINDS[str(dtype).removeprefix('taeda.')]}Tensor"])
    _core.set_default_dtype(dtype)
    if place != "cpu" or _core.get_default_device().type == "cuda":  # others were set on their own
        _core.set_default_device(place)
