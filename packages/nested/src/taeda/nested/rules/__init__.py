"""Rules: what the rows of the op table do with nested tensors, one file for each family."""

from __future__ import annotations

import importlib
import pkgutil

__all__ = ["load"]


def load() -> None:
    """Register the rules of every family."""
    for _, name, _ in pkgutil.iter_modules(__path__):
        if not name.startswith("_"):
            importlib.import_module(f"{__name__}.{name}")
