"""Rules: what the rows of the op table do with quantized tensors, one file for each family."""

from __future__ import annotations

from taeda._core_api.families import import_families

__all__ = ["load"]


def load() -> None:
    """Register the rules of every family."""
    import_families(__name__)
