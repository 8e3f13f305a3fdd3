"""torchaudio: its compiled part is built against another core, and its functions in Python need none."""

from __future__ import annotations

from types import ModuleType
from typing import Any

__all__ = ["register"]


def register(module: ModuleType) -> None:
    """Let it say that it has no compiled part, where that cannot be loaded; then it imports, takes its
    ways in Python where it has them, and names what wants the compiled part.
    """
    load = module.__dict__["_load_lib"]

    def load_or_not(lib: str) -> Any:
        try:
            return load(lib)
        except (ImportError, OSError):  # what `ops.load_library` raises
            return False

    module.__dict__["_load_lib"] = load_or_not
