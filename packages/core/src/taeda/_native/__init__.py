"""The compiled runtime: `core` holds its types and functions.

TAEDA_NATIVE names another folder to look in first: the sanitizer session keeps its library apart there.
"""

from __future__ import annotations

import os
import sys
from types import ModuleType

if "t" in getattr(sys, "abiflags", ""):
    raise ImportError(
        "taeda relies on Python's global interpreter lock, and this Python is a free-threaded "
        "build, which has none: "
        f"use the ordinary build of Python {sys.version_info[0]}.{sys.version_info[1]}"
    )

if _folder := os.environ.get("TAEDA_NATIVE"):
    __path__.insert(0, _folder)


def _without(folder: str) -> str:
    """Why there is no compiled core beside this file, and what to do."""
    archive = folder
    while archive and not os.path.exists(archive):
        archive = os.path.dirname(archive)
    if os.path.isfile(archive):
        return (
            f"taeda lies in the zip file {archive}, and Python loads compiled modules from folders alone: "
            "unpack it, or install taeda into an environment beside your program"
        )
    return (
        f"the compiled core of taeda is not in {folder}: install taeda-core from a wheel, or build it in a "
        "checkout by `pip install -e packages/core`"
    )


try:
    from ._core import lib as _lib  # after the path is complete
except ModuleNotFoundError as _error:
    if _error.name != f"{__name__}._core":
        raise
    raise ImportError(_without(os.path.dirname(os.path.abspath(__file__)))) from None

_lib.td_register()
if "taeda._native.core" not in sys.modules:
    raise ImportError(
        "the compiled core of taeda serves one interpreter of a process, the main one, and this is "
        "another: use threads or processes in place of subinterpreters"
    )
core: ModuleType = sys.modules["taeda._native.core"]
if getattr(core, "failed", False):
    raise ImportError("the compiled core of taeda did not start; the lines above say why")

register_rule = core.register_rule
