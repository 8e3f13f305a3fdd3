"""What is said of a file that names classes: which, and the two ways to have it loaded."""

from __future__ import annotations

import os

from . import safetypes

__all__ = ["FORCED", "forced", "of_classes"]

#: set to 1, y, yes or true, these let no file run code, whatever `weights_only` says
FORCED = ("TORCH_FORCE_WEIGHTS_ONLY_LOAD", "TAEDA_FORCE_WEIGHTS_ONLY_LOAD")
_SHOWN = 5


def forced() -> str:
    """The variable that forbids files to run code here, "" if none does."""
    words = ("1", "y", "yes", "true")
    return next((name for name in FORCED if os.environ.get(name, "").lower() in words), "")


def of_classes(names: list[str]) -> str:
    """The sentence for a file with objects of these classes, which nobody allowed."""
    strange = [name for name in dict.fromkeys(names) if safetypes.own(name) is None] or names[:1]
    shown = ", ".join(strange[:_SHOWN]) + (", ..." if len(strange) > _SHOWN else "")
    short = ", ".join(name.rpartition(".")[2] for name in strange[:_SHOWN])
    other = "load(..., weights_only=False), which imports what the file names and runs its code"
    if variable := forced():
        other += f" (and is refused here, because {variable} is set)"
    return (
        f"the file holds objects of {shown:.400}, and classes are not loaded unless you say so. If "
        "you trust the file, either "
        f"import them and call taeda.serialization.add_safe_globals([{short:.200}]), after which "
        "fields are put in place and "
        f"none of their code runs, or call {other}. A file that everybody can load is "
        "written by save(module.state_dict(), path)"
    )
