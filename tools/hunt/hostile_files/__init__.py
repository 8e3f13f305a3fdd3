"""Files that nobody means well with, of every kind that `load` and `export.load` read. Used by
load_hostile.py.

Each is made by a rule and has a name, so that it can be made again. None may be accepted: a file
that would be read right does not belong here.
"""

from __future__ import annotations

from collections.abc import Iterator

from . import (
    cuts,
    gadgets,
    ggufs,
    legacy,
    modules,
    npys,
    pickles,
    programs,
    safetensors,
    tars,
    tensors,
    zips,
)

__all__ = ["FAMILIES", "PROGRAMS", "every"]

#: the family that `taeda.export.load` reads; the others are `taeda.load`'s
PROGRAMS = "exported programs"

#: family: a function that gives (name, bytes), the most telling ones first
FAMILIES = {
    "pickle: code": gadgets.files,
    "pickle: instructions": pickles.files,
    "pickle: tensors": tensors.files,
    "whole modules": modules.files,
    "zip": zips.files,
    "torch before 1.6": legacy.files,
    "torch before 0.2": tars.files,
    "npy, npz": npys.files,
    "gguf": ggufs.files,
    "safetensors": safetensors.files,
    PROGRAMS: programs.files,
    "cut, mixed": cuts.files,
}


def every(most: int | None = None) -> Iterator[tuple[str, str, bytes]]:
    """(family, name, bytes): all, or the first `most` of each family."""
    for family, files in FAMILIES.items():
        for number, (name, data) in enumerate(files()):
            if most is not None and number >= most:
                break
            yield family, name, data
