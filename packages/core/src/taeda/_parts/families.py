"""A folder with a module for every family, each of which registers its own when it is imported."""

from __future__ import annotations

import importlib
import pkgutil

__all__ = ["import_families"]


def import_families(package: str) -> None:
    """Import every module of a package but those whose names begin with an underscore."""
    folder = importlib.import_module(package).__path__
    for _, name, _ in pkgutil.iter_modules(folder):
        if not name.startswith("_"):
            importlib.import_module(f"{package}.{name}")
