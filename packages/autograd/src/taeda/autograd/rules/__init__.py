"""Derivative rules, a file per family of operations; `load` registers them all."""

from __future__ import annotations

import importlib
from pathlib import Path

__all__ = ["load"]


def load() -> None:
    """Import every family file of this folder."""
    for file in sorted(Path(__file__).parent.glob("[a-z]*.py")):
        importlib.import_module(f"{__name__}.{file.stem}")
