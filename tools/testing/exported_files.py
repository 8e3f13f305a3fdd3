"""Exported programs as files."""

from __future__ import annotations

import io
from typing import Any

from taeda.export import load, save

__all__ = ["loaded"]


def loaded(program: Any) -> Any:
    """The program that comes back from its file."""
    file = io.BytesIO()
    save(program, file)
    file.seek(0)
    return load(file)
