"""What marks a scenario, and what scenarios share: data, calling three times, copies of results."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import taeda
from taeda import Tensor

#: function -> (what changes, whether it stays eager)
_MARKED: dict[Callable[[Any], Any], tuple[str, bool]] = {}


def scenario(what: str, *, eager: bool = False) -> Any:
    """Mark a program as a scenario; `eager` says that no graph is expected of it."""

    def mark(program: Any) -> Any:
        _MARKED[program] = what, eager
        return program

    return mark


def of(module: ModuleType) -> dict[str, tuple[str, Callable[[Any], Any], bool]]:
    """The scenarios of a module, in its order: by name, what changes, the program, whether it stays eager."""
    found = [value for value in vars(module).values() if callable(value) and value in _MARKED]
    return {f.__name__.removeprefix("s_"): (_MARKED[f][0], f, _MARKED[f][1]) for f in found}


def kept(value: Any) -> Any:
    """A copy of results that later calls do not change."""
    if isinstance(value, Tensor):
        return value.detach().clone()
    if isinstance(value, (list, tuple)):
        return [kept(v) for v in value]
    if isinstance(value, dict):
        return {k: kept(v) for k, v in value.items()}
    return value


def thrice(f: Any, *args: Any, **kwargs: Any) -> list[Any]:
    return [kept(f(*args, **kwargs)) for _ in range(3)]


def data(*shape: int, seed: int = 0) -> Tensor:
    return taeda.randn(*(shape or (3, 4)), generator=taeda.Generator().manual_seed(seed))
