"""What the parts of taeda bring to `python -m taeda`: a module `_doctor` each, with CHECKS and, if
it has some, FACTS.

Both are tables from a name to a function without arguments that returns a few words. So core need
not know its siblings.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterator
from types import ModuleType

from taeda._parts import DISTRIBUTIONS

__all__ = ["modules"]


def modules() -> Iterator[ModuleType]:
    """The module `_doctor` of every part that is installed and has one, core's first."""
    yield importlib.import_module("taeda._doctor.core")
    for sub in DISTRIBUTIONS:
        if _has_one(f"taeda.{sub}._doctor"):
            yield importlib.import_module(f"taeda.{sub}._doctor")


def _has_one(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # the part, or what it lies in, is not installed
        return False
