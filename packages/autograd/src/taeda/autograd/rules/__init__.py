"""Derivative rules, a file per family of operations; `load` registers them all."""

from __future__ import annotations

import importlib
from pathlib import Path

from taeda._core_api import runtime as _core

__all__ = ["load"]


def load() -> None:
    """Import every family file of this folder. Other threads that need a rule wait until all are there."""
    _core.rules_loading(False)
    for file in sorted(Path(__file__).parent.glob("[a-z]*.py")):
        importlib.import_module(f"{__name__}.{file.stem}")
    _core.rules_loading(True)
