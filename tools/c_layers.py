"""Layers of the C core: a file includes files of its own folder or of folders below it, and headers include in no circle.

    python tools/c_layers.py            a sentence for every include that points upward, and for every circle

The folders of `packages/core/csrc` are the layers (decision 0024). Read from the text: nothing is compiled.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

__all__ = ["LAYERS", "check", "circles", "upward"]

#: from the lowest up
LAYERS = (
    "runtime",
    "cpu",
    "cuda",
    "ops",
    "object",
    "graph",
    "dispatch",
    "backward",
    "abi",
    "binding",
)
INCLUDE = re.compile(r'^\s*#\s*include "([^"]+)"', re.M)
OUTSIDE = ("taeda/", "entries.gen.h")  # the public header, and what is generated


def includes(csrc: Path) -> dict[str, list[str]]:
    """Every C file by its path below `csrc`, with the paths it includes."""
    files = sorted(path for path in csrc.rglob("*.[ch]"))
    return {str(path.relative_to(csrc)): INCLUDE.findall(path.read_text()) for path in files}


def upward(found: dict[str, list[str]]) -> Iterator[str]:
    """A sentence for an include of a higher layer, and for one that is no path from csrc."""
    for file, names in found.items():
        for name in names:
            if name.startswith(OUTSIDE):
                continue
            if name not in found:
                yield f"{file}: {name!r} is no path from csrc"
            elif _rank(name) > _rank(file):
                yield f"{file} includes {name}, which is of a higher layer ({' < '.join(LAYERS)})"


def _rank(file: str) -> int:
    return LAYERS.index(file.partition("/")[0])


def circles(found: dict[str, list[str]]) -> Iterator[str]:
    """A sentence for every header that reaches itself."""
    for start in found:
        path = _way_back(start, found)
        if path and start == min(path):
            yield "headers include each other: " + " -> ".join([*path, start])


def _way_back(start: str, found: dict[str, list[str]]) -> list[str]:
    """The shortest way of includes from `start` to itself, or nothing."""
    ways = {name: [start] for name in found[start]}
    while ways:
        if start in ways:
            return ways[start]
        reached = {name: way for name, way in ways.items() if name in found}
        ways = {
            further: [*way, name]
            for name, way in reached.items()
            for further in found[name]
            if further == start or further not in way
        }
    return []


def check(root: Path) -> list[str]:
    """All that is wrong in the core of the checkout `root`."""
    found = includes(root / "packages" / "core" / "csrc")
    strangers = sorted({f.partition("/")[0] for f in found} - set(LAYERS))
    return [f"csrc/{name} is no layer" for name in strangers] or [*upward(found), *circles(found)]


if __name__ == "__main__":
    wrong = check(Path(__file__).resolve().parent.parent)
    print("\n".join(wrong) or f"C: {len(LAYERS)} layers hold")
    sys.exit(bool(wrong))
