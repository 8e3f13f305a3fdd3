"""Classes that say torch where taeda stands under its name: tensors, parameters, dtypes, devices, sizes.

Libraries ask a value for its class's module to know whose it is (opt_einsum: `x.__class__.__module__`,
tensorboardX: "torch" in `str(type(x))`). What is pickled of them still names taeda: a process that reads
it may not have taken torch's name.
"""

from __future__ import annotations

import copyreg
import importlib
from typing import Any

__all__ = ["say_torch"]

#: classes of taeda whose place in torch has the same name
_VALUES = (
    "Tensor",
    "dtype",
    "device",
    "Size",
    "layout",
    "memory_format",
    "qscheme",
    "Generator",
    "finfo",
    "iinfo",
)


def say_torch() -> None:
    """Let the module and the text of these classes, and of their values, be torch's."""
    taeda = importlib.import_module("taeda")
    for name in _VALUES:
        getattr(taeda, name).__module__ = "torch"
    for name in ("dtype", "layout", "memory_format", "qscheme", "Size"):
        kind = getattr(taeda, name)
        kind.__repr__ = kind.__str__ = _under_torch(kind.__repr__)
    for kind in vars(importlib.import_module("taeda.return_types")).values():
        if isinstance(kind, type) and issubclass(kind, tuple):
            setattr(kind, "__repr__", _under_torch(kind.__repr__))  # noqa: B010 - a slot to mypy
    for name in ("dtype", "layout", "memory_format", "qscheme"):
        copyreg.pickle(getattr(taeda, name), _as_named)
    copyreg.pickle(taeda.Size, _as_size)
    copyreg.pickle(taeda.device, _as_device)
    _parameters()


def _parameters() -> None:
    try:
        ours = importlib.import_module("taeda.nn.parameter")
    except ModuleNotFoundError:  # taeda-nn is not installed
        return
    for kind in vars(ours).values():
        if isinstance(kind, type) and kind.__module__ == ours.__name__:
            kind.__module__ = "torch.nn.parameter"


def _under_torch(text: Any) -> Any:
    def said(self: Any) -> str:
        return f"torch.{text(self).removeprefix('taeda.')}"

    return said


# ---- pickles ----


def _as_named(value: Any) -> tuple[Any, tuple[str]]:
    return _named, (str(value).rpartition(".")[2],)


def _named(name: str) -> Any:
    return getattr(importlib.import_module("taeda"), name)


def _as_size(value: Any) -> tuple[Any, tuple[tuple[int, ...]]]:
    return _size, (tuple(value),)


def _size(sizes: tuple[int, ...]) -> Any:
    return _named("Size")(sizes)


def _as_device(value: Any) -> tuple[Any, tuple[str]]:
    return _device, (str(value),)


def _device(text: str) -> Any:
    return _named("device")(text)
