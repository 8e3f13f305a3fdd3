"""Where a part of the library keeps what it would otherwise make again."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["cache_place"]


def cache_place(part: str) -> Path:
    """The folder of a part: `TAEDA_CACHE_DIR/<part>`, else `~/.cache/taeda/<part>`, where
    `XDG_CACHE_HOME` may stand for `~/.cache`. Nothing is made.
    """
    named = os.environ.get("TAEDA_CACHE_DIR")
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(named) / part if named else Path(home) / "taeda" / part
