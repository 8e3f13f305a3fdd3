"""Where libraries of CUDA lie: named by the environment, in NVIDIA's wheels, or on the loader's path.

Nothing is opened before it is asked for.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
from pathlib import Path

__all__ = ["MAJORS", "candidates", "opened"]

#: of CUDA, the newest first
MAJORS = (13, 12)


def candidates(name: str, environment: str, newest: int = MAJORS[0]) -> list[str]:
    """What may be `lib{name}`, the best first: of CUDA's major version `newest` or older.

    The variable `environment` names a file, and then nothing else is tried.
    """
    named = os.environ.get(environment)
    if named:
        return [named]
    loader = [f"lib{name}.so.{major}" for major in MAJORS if major <= newest]
    return [*_in_wheels(name, newest), *loader, f"lib{name}.so"]


def _in_wheels(name: str, newest: int) -> list[str]:
    folders = (Path(entry) / "nvidia" for entry in sys.path if entry)
    found = (path for folder in folders if folder.is_dir() for path in folder.glob("*/lib/*.so.*"))
    wanted = re.compile(rf"lib{re.escape(name)}\.so\.(\d+)")
    fits = ((wanted.fullmatch(path.name), path) for path in found)
    ranked = [(int(match[1]), str(path)) for match, path in fits if match]
    return [path for major, path in sorted(ranked, reverse=True) if major <= newest]


def opened(name: str, environment: str, newest: int = MAJORS[0]) -> ctypes.CDLL | None:
    """The first candidate that opens."""
    for path in candidates(name, environment, newest):
        try:
            return ctypes.CDLL(path)
        except OSError:
            continue
    return None
