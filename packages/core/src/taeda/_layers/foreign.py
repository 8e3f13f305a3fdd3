"""Objects of PyTorch itself among the arguments of a call: what is said of them.

They are known by the module of their class, so that nothing of PyTorch is imported. Programs get
them where some files were changed to import taeda and others were not.
"""

from __future__ import annotations

import sys
from typing import Any

__all__ = ["OWN", "is_foreign", "is_theirs_here", "named", "refuse", "remark"]

#: how the modules of our own classes of tensors begin; parameters say torch under its name
OWN = ("taeda.", "torch.nn.parameter")


def is_foreign(value: Any) -> bool:
    """Is it an object of PyTorch itself, which is not taeda under its name?"""
    if not any(_root(kind) == "torch" for kind in type(value).__mro__):
        return False
    return "_taeda" not in vars(sys.modules.get("torch", sys))


def is_theirs_here() -> bool:
    """Has this process imported PyTorch itself?"""
    return "torch" in sys.modules and "_taeda" not in vars(sys.modules["torch"])


def _root(kind: type) -> str:
    return str(getattr(kind, "__module__", None)).partition(".")[0]


def _advice(value: Any) -> str:
    kind = type(value).__name__
    if kind in ("dtype", "layout", "memory_format"):
        return f"write taeda.{str(value).removeprefix('torch.')}"
    if kind == "device":
        return f"write taeda.device({str(value)!r})"
    if hasattr(value, "__dlpack__"):
        return "taeda.from_dlpack(x.detach()) shares its memory"
    return "make it with taeda"


def remark(value: Any) -> str:
    """A sentence to be put behind a message, for an object of PyTorch itself; "" for others."""
    if not is_foreign(value):
        return ""
    return (
        f". It is an object of PyTorch itself, which is not taeda's: {_advice(value)}, import taeda "
        "in place of torch in every file (`python -m taeda port`), or call taeda.install_as_torch() "
        "before the first import of torch"
    )


def named(value: Any) -> str:
    """The name of an object's type for messages, and for one of PyTorch itself what to do about it."""
    kind = type(value)
    if not is_foreign(value):
        return kind.__name__
    return f"{kind.__module__}.{kind.__qualname__}{remark(value)}"


def refuse(function: Any, values: Any) -> None:
    """TypeError for a call of `function` if an object of PyTorch itself is among the values."""
    for value in values:
        if is_foreign(value):
            name = getattr(function, "__name__", function)
            raise TypeError(f"{name}(): an argument is {named(value)}")
