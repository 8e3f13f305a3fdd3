"""What programs ask about how the library was built, and for which devices."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .._native import core as _core

if TYPE_CHECKING:
    from taeda import Device

__all__ = ["compiled_with_cxx11_abi", "get_device_module"]


def compiled_with_cxx11_abi() -> bool:
    """True: extensions are compiled with the C++ library's current strings and lists; the core
    itself is C.
    """
    return True


def get_device_module(device: Device | None = None) -> ModuleType:
    """The module of a kind of device, by default of the accelerator, which is the cpu where there is none.

    RuntimeError for a kind without one.

    >>> get_device_module("cpu").__name__
    'taeda.cpu'
    """
    kind: Any = "cpu" if device is None else _core.device(device).type
    try:
        return importlib.import_module(f"taeda.{kind}")
    except ModuleNotFoundError:
        raise RuntimeError(
            f"Device '{kind}' does not have a corresponding module registered as 'taeda.{kind}'."
        ) from None
