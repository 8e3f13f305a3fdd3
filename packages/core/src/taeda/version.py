"""The version of the core, and of what it was built with."""

from __future__ import annotations

import os
import sys
from importlib import metadata

__all__ = ["__version__", "cuda", "debug", "hip"]


def _installed() -> str:
    """What the installer wrote down of this core: beside it, or elsewhere on the path if it is editable."""
    beside = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for path in ([beside], sys.path):
        for found in metadata.distributions(name="taeda-core", path=path):
            return found.version
    return "0+unknown"  # a folder on the import path that nobody installed


__version__: str = _installed()
cuda: str | None = None
hip: str | None = None
debug = False
