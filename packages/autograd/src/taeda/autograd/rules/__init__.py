"""Derivative rules, one file for each family of operations; `load` registers them all."""

from __future__ import annotations

from taeda._core_api import runtime as _core
from taeda._core_api.families import import_families

__all__ = ["load"]


def load() -> None:
    """Import the file of every family. A thread that needs a rule waits until all are there."""
    _core.rules_loading(False)
    import_families(__name__)
    _core.rules_loading(True)
