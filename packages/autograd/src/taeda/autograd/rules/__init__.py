"""Derivative rules, one file for each family of operations; `load` registers them all."""

from __future__ import annotations

import importlib
from pathlib import Path

from taeda._core_api import runtime as _core

__all__ = ["load"]


def load() -> None:
    """Import the file of every family. A thread that needs a rule waits until all are there."""
    _core.rules_loading(False)
    for file in sorted(Path(__file__).parent.glob("[a-z]*.py")):
        importlib.import_module(f"{__name__}.{file.stem}")
    _core.rules_loading(True)
