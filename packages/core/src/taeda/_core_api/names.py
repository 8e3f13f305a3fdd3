"""What the library is called in text: "torch" once `taeda.install_as_torch` was called."""

from __future__ import annotations

from taeda._tensor.legacy_types import said_as

__all__ = ["library_name"]


def library_name() -> str:
    """The word before the dot in the text of dtypes, functions and operators."""
    return said_as[0]
