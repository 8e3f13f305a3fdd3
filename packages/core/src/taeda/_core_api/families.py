"""Rules by families: every module of a folder is imported, and registers its own."""

from __future__ import annotations

from taeda._parts.families import import_families

__all__ = ["import_families"]
