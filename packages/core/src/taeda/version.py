"""The version of the core, and of what it was built with."""

from __future__ import annotations

from taeda import __version__

__all__ = ["__version__", "cuda", "debug", "hip"]

cuda: str | None = None
hip: str | None = None
debug = False
