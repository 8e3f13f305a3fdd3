"""Derivative rules, one file for each family of operations; `load` registers them all."""

from __future__ import annotations

import importlib
import pkgutil

from taeda._core_api import runtime as _core

__all__ = ["load"]


def load() -> None:
    """Import the file of every family. A thread that needs a rule waits until all are there."""
    _core.rules_loading(False)
    for _, name, _ in pkgutil.iter_modules(__path__):
        if not name.startswith("_"):
            importlib.import_module(f"{__name__}.{name}")
    _core.rules_loading(True)
