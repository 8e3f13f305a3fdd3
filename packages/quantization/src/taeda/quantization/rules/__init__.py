"""Rules: what the rows of the op table do with quantized tensors, one file for each family."""

from __future__ import annotations

import importlib
from pathlib import Path

__all__ = ["load"]


def load() -> None:
    """Register the rules of every family."""
    for file in sorted(Path(__file__).parent.glob("[a-z]*.py")):
        importlib.import_module(f"{__name__}.{file.stem}")
