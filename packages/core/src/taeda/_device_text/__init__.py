"""Device text: kernel tables and kernels as texts that compilers of devices and of chains take.

`families` has a row for each family, `expand` the texts, `chains` the same tables as functions of vectors.
Standard library only but for `chains`: the build and tools read it before taeda is built.
"""

from __future__ import annotations

from .expand import files, headers, kernel, loops, place, root, source
from .families import ALONE, CHAINED, FAMILIES, TABLES, Family, Programs, find, tried

__all__ = [
    "ALONE",
    "CHAINED",
    "FAMILIES",
    "TABLES",
    "Family",
    "Programs",
    "files",
    "find",
    "headers",
    "kernel",
    "loops",
    "place",
    "root",
    "source",
    "tried",
]
