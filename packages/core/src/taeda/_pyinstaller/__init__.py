"""Where PyInstaller finds what it cannot see of taeda: the entry point `pyinstaller40` names it."""

from __future__ import annotations

from pathlib import Path

__all__ = ["get_hook_dirs"]


def get_hook_dirs() -> list[str]:
    """The folder of `hook-taeda.py`."""
    return [str(Path(__file__).parent)]
