"""What the arguments of a row mean, and what else its users ask: read from `_arguments.txt`, whose
first lines say how it is written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from ._row import Row

__all__ = ["Meanings", "meaning", "note", "read"]

_ENTRY = re.compile(r"(?:(\w+)(?: \[([\w. ]+)\])?|> ([\w. ]+)): (.+)")
#: sizes of one to three spatial dimensions
_SPACE = {"1": "L", "2": "H, W", "3": "D, H, W"}


@dataclass(frozen=True)
class Meanings:
    """`texts` by argument and place, where the place "" is every one; `notes` by place."""

    texts: dict[tuple[str, str], str] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)


def read(text: str) -> Meanings:
    """The entries of a text; ValueError names a line that is none, or one that comes again.

    >>> read("dim: the dimension\\ndim [cat]: where they\\n    meet").texts["dim", "cat"]
    'where they meet'
    """
    found = Meanings()
    for line in re.sub(r"\n {4}", " ", text).splitlines():
        if not line or line.startswith("#"):
            continue
        entry = _ENTRY.fullmatch(line)
        if entry is None:
            raise ValueError(
                f"no entry `name: text`, `name [places]: text` or `> places: text`: {line!r}"
            )
        name, places, noted, said = entry.groups()
        for place in (noted or places or "").split() or [""]:
            if noted:
                _put(found.notes, place, said)
            else:
                _put(found.texts, (name, place), said)
    return found


def _put(known: dict[Any, str], key: Any, said: str) -> None:
    if key in known:
        raise ValueError(f"{key!r} is described twice; the second time by {said!r}")
    known[key] = said


def meaning(row: Row, argument: str) -> str:
    """What an argument of a row means; "" if nothing is said."""
    texts = _meanings().texts
    for place in (*_names(row), row.family, ""):
        if said := texts.get((argument, place)):
            return _filled(said, row)
    return ""


def note(row: Row) -> str:
    """What is said of a row beyond its sentence; "" for nothing."""
    for place in _names(row):
        if said := _meanings().notes.get(place):
            return _filled(said, row)
    return ""


def _names(row: Row) -> tuple[str, str]:
    return f"{row.namespace}.{row.schema.name}", row.schema.name


def _filled(said: str, row: Row) -> str:
    digit = re.search(r"([123])d", row.schema.name)
    dimensions = digit[1] if digit else ""
    space = _SPACE.get(dimensions, "*")
    said = said.replace(
        "one for each of the {n} spatial", f"one for each of the {dimensions} spatial"
    )
    if dimensions == "1":
        said = said.replace("each of the 1 spatial dimensions", "the spatial dimension, in a list")
        said = said.replace("one for the spatial dimension, in a list", "a list of one")
    return said.replace("{n}", dimensions or "spatial").replace("{space}", space)


@cache
def _meanings() -> Meanings:
    return read((Path(__file__).parent / "_arguments.txt").read_text())
