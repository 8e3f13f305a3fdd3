"""Where libraries of CUDA lie: named by the environment, in NVIDIA's wheels, or on the loader's path.

Nothing is opened before it is asked for.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
from pathlib import Path

from taeda._native import core as _core

__all__ = ["MAJORS", "candidates", "newest_served", "opened"]

#: of CUDA, the newest first
MAJORS = (13, 12)
#: what a library opens by its name alone, which the loader does not find beside it where NVIDIA's wheel
#: has no search path: `libnvrtc.so.13` of CUDA 13.0 asks for `libnvrtc-builtins.so.13.0`
OPENED_BY = {"nvrtc": "libnvrtc-builtins.so.*"}


def newest_served() -> int:
    """The newest major version of CUDA that this machine's driver serves; that of `MAJORS` without one."""
    if not _core.cuda_count():
        return MAJORS[0]
    return int(_core.cuda_driver_version()) // 1000


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
            _open_beside(name, Path(path))
            return ctypes.CDLL(path)
        except OSError:
            continue
    return None


def _open_beside(name: str, path: Path) -> None:
    """Open first what the library `name` will ask for: the loader knows it by its name from then on."""
    pattern = OPENED_BY.get(name)
    if pattern is None or not path.is_absolute():
        return  # the loader's path has both
    for beside in sorted(path.resolve().parent.glob(pattern)):
        ctypes.CDLL(str(beside))
