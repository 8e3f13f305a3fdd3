"""Limits of `compile`, as attributes: `recompile_limit` (also `cache_size_limit`) is how many graphs one function gets.

Another name, or a value that is no positive int, is refused: nothing would act on it.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from taeda.compiler import _compiled

__all__ = ["cache_size_limit", "recompile_limit"]

_LIMITS = ("recompile_limit", "cache_size_limit")

recompile_limit: int
cache_size_limit: int


class _Config(ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name in _LIMITS:
            return _compiled.limits.graphs
        raise AttributeError(f"taeda._dynamo.config has no {name!r}; it has {', '.join(_LIMITS)}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("__"):
            super().__setattr__(name, value)
            return
        if name not in _LIMITS:
            raise AttributeError(
                f"taeda._dynamo.config has no {name!r}; it has {', '.join(_LIMITS)}"
            )
        if type(value) is not int or value < 1:
            raise ValueError(f"{name} is a positive int, got {value!r}")
        _compiled.limits.graphs = value


sys.modules[__name__].__class__ = _Config
