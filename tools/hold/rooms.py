"""Rooms of a package: its private folders, in the order in which they build on each other.

A module imports from its own room and from those below it, also where the import stands inside a
function. What `ROOMS` does not name is the top floor, which may use all. The map in the package's
README names every file and folder, so that nothing is added without a word on what it holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import facts
import layers

__all__ = ["check", "unmapped", "upward"]

#: package -> its module, and the floors from below: names of modules and folders
ROOMS: dict[str, tuple[str, tuple[str, ...]]] = {
    "taeda-distributed": (
        "taeda.distributed",
        (
            "_errors _settings _types _waiting _calls",
            "_stores",
            "_wires",
            "_meeting",
            "_sums",
            "_mpi",
            "_engines",
            "_groups",
        ),
    ),
}


def check(packages: Iterable[Any]) -> list[str]:
    """A sentence for every import that points to a higher room, and for what the README leaves out."""
    wrong: list[str] = []
    for package in packages:
        if package.name in ROOMS:
            module, floors = ROOMS[package.name]
            wrong += upward(package.folder / "src", module, floors)
            wrong += unmapped(package.folder, module)
    return wrong


def upward(source: Path, module: str, floors: tuple[str, ...]) -> Iterator[str]:
    """A sentence for each import of a room from a room above it, by lines."""
    floor_of = {name: floor for floor, names in enumerate(floors) for name in names.split()}
    top = len(floors)
    for _, text, inside in facts.texts(source):
        own = _room(".".join(layers.parts_of(inside)), module)
        here = floor_of.get(own or "", top)
        for line, name in facts.of(layers.imports, text, inside):
            room = _room(name, module)
            if room and floor_of.get(room, top) > here:
                yield f"{inside}:{line}: {own} imports {room}, which stands above it (tools/hold/rooms.py)"


def _room(name: str, module: str) -> str | None:
    """`_sums` for `taeda.distributed._sums.ring.Ring`; None for what lies elsewhere."""
    if not name.startswith(f"{module}."):
        return None
    return name.removeprefix(f"{module}.").partition(".")[0]


def unmapped(folder: Path, module: str) -> Iterator[str]:
    """A sentence for each file and folder of the module that the README's map does not name."""
    rows = [row for row in (folder / "README.md").read_text().splitlines() if row.startswith("|")]
    named = set(re.findall(r"`([\w.]+)`", "\n".join(rows)))
    for entry in sorted((folder / "src").joinpath(*module.split(".")).iterdir()):
        private = entry.name.startswith("__") or entry.suffix not in ("", ".py")
        if not private and entry.name not in named:
            yield f"{folder.name}: the map in README.md does not say what {entry.name} holds"
