"""Packages that want to be told of taeda: what is done once one of them is imported, by us or by anybody.

Nothing here is imported before; `taeda._parts.packages` looks for the names below among all imports.
"""

from __future__ import annotations

import importlib
from types import ModuleType

__all__ = ["register"]


def register(module: ModuleType) -> None:
    """Tell a package of taeda, whose module has just run."""
    ours = module.__name__.partition(".")[0]
    importlib.import_module(f"taeda._neighbours.{ours}").register(module)
