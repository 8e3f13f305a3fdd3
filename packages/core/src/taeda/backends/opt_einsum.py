"""opt_einsum: not used; `taeda.einsum` contracts from left to right."""

from __future__ import annotations

from typing import Any

__all__ = ["get_opt_einsum", "is_available"]


def is_available() -> bool:
    """False."""
    return False


def get_opt_einsum() -> Any:
    """None: the package is not used."""
    return None
