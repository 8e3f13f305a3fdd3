"""Dispatch keys and transforms, as `torch._C` names them: what each question means here."""

from __future__ import annotations

import contextlib
from typing import Any

from taeda import Tensor
from taeda._layers import AUTOCAST, FUNCTION_MODE, TRANSFORM, hidden, is_active
from taeda._native import core as _core

__all__ = [
    "Excluded", "Key", "KeySet", "backend_name", "default_device", "dimension", "function_mode", "is_mapped",
    "maps_at_work", "never", "shares", "value_of",
]  # fmt: skip


class Key:
    """Names of dispatch keys: each is itself, as text."""

    def __getattr__(self, name: str) -> str:
        if name.startswith("__"):
            raise AttributeError(name)
        return name


class KeySet(frozenset[str]):
    """Dispatch keys by name."""

    def __new__(cls, key: str | frozenset[str] = "") -> KeySet:
        return super().__new__(cls, key if isinstance(key, frozenset) else {key} - {""})

    def __or__(self, other: Any) -> KeySet:
        return KeySet(super().__or__(other))

    def has(self, key: str) -> bool:
        """Whether the key is one of them."""
        return key in self


class Excluded(contextlib.AbstractContextManager[None]):
    """Within the block calls pass by these layers: autocast is one here, other keys are refused."""

    def __init__(self, keys: KeySet) -> None:
        if others := sorted(key for key in keys if not key.startswith("Autocast")):
            raise RuntimeError(
                f"taeda has no dispatch keys, and no layer that is {', '.join(others)}"
            )
        self._hidden = hidden(*[AUTOCAST] * bool(keys))

    def __enter__(self) -> None:
        self._hidden.__enter__()

    def __exit__(self, *raised: object) -> None:
        self._hidden.__exit__(*raised)


def maps_at_work() -> bool:
    """Whether calls of this thread are mapped. Who asks avoids what a mapped sample cannot do; `grad`
    and its like forbid nothing here, and do not count.
    """
    return is_active(TRANSFORM)


def function_mode() -> bool:
    """Whether a mode with `__torch_function__` sees calls."""
    return is_active(FUNCTION_MODE)


def is_mapped(x: Any) -> bool:
    """Whether `x` stands for a sample of a map."""
    return hasattr(x, "_level") and hasattr(x, "_value")


def value_of(x: Any) -> Any:
    """All samples that `x` stands for; `x` where it stands for itself."""
    return x._value if is_mapped(x) else x


def dimension(x: Any) -> int:
    """The dimension of the samples in `value_of(x)`: 0; -1 where it has none."""
    return 0 if is_mapped(x) else -1


def never(x: Any) -> bool:
    """False: no tensor is one of these here."""
    return False


def shares(first: Tensor, second: Tensor) -> bool:
    """Whether two tensors lie in one storage."""
    return first.untyped_storage().data_ptr() == second.untyped_storage().data_ptr()


def backend_name() -> str:
    """What the device for backends of others is called."""
    return _core.privateuse1_name()


def default_device() -> str:
    """The kind of device that tensors are made on."""
    kind: str = _core.get_default_device().type
    return kind
