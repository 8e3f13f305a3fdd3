"""opt_einsum: not used; `taeda.einsum` contracts from left to right.
Its settings are kept for programs that make them.
"""

from __future__ import annotations

from typing import Any

__all__ = ["enabled", "get_opt_einsum", "is_available", "strategy"]

enabled = False
strategy: str | None = None


def is_available() -> bool:
    """False.

    >>> taeda.backends.opt_einsum.is_available() in (True, False)
    True
    """
    return False


def get_opt_einsum() -> Any:
    """None: the package is not used.

    >>> taeda.backends.opt_einsum.get_opt_einsum() is None
    True
    """
    return None
