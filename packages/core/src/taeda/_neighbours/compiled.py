"""Compiled parts of other libraries that a package of taeda brings: its operators have their names."""

from __future__ import annotations

import importlib
from pathlib import Path

__all__ = ["brought"]

#: (the folder of a shared library, its name up to the first point): the module that defines its operators
INSTEAD = {
    ("torchvision", name): "taeda.vision_ops"
    for name in ("_C", "_C_stable", "image", "image_stable")
}


def brought(path: Path) -> bool:
    """Are the operators of this shared library there by our own package, which is imported then?

    ImportError, with the command that installs it, where it is not installed.
    """
    module = INSTEAD.get((path.parent.name, path.name.partition(".")[0]))
    if module is None:
        return False
    # a part runs when it is asked for something
    return bool(importlib.import_module(module).__all__)
