"""Chains of elementwise operations as C: text, compiler, folder of libraries, who does it when.

Nothing of it is loaded before a chain has run three times, or somebody asks.
"""

from __future__ import annotations

from typing import Any

from taeda._core_api.chains import listen_for_chains

__all__ = ["any_pending", "start"]


def start() -> None:
    """Be asked by core for functions of chains."""
    listen_for_chains(_asked)


def _asked() -> None:
    from .worker import asked

    asked()


def any_pending(program: Any) -> bool:
    """Whether a chain of a program's last run is being compiled or timed."""
    numbers = {n for n in getattr(program, "chains", tuple)() if n >= 0}
    if not numbers:
        return False
    from .worker import is_pending

    return any(map(is_pending, numbers))
