"""Texts of families: with the headers of `csrc/cpu/simd/device` in place of those of the same name.

Standard library only and nothing of taeda: tools read it before taeda is built.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

from .families import CHAINED, FAMILIES

__all__ = ["files", "headers", "kernel", "loops", "place", "root", "source"]

INCLUDE = re.compile(r'^\s*#include\s+"([^"]+)"', re.MULTILINE)
LIBRARY = ("complex.h", "float.h", "math.h", "stdbool.h", "stdint.h", "stdlib.h", "string.h")


@cache
def root() -> Path:
    """The folder of the texts: beside this file in a wheel, the checkout's csrc otherwise."""
    packed = Path(__file__).parent / "text"
    return packed if packed.is_dir() else Path(__file__).parents[3] / "csrc"


@cache
def source(name: str, kind: str = "device") -> str:
    """The text that `#include "name"` means on a device, or in a text of another kind ("chain")."""
    return (root() / place(name, kind)).read_text()


def place(name: str, kind: str = "device") -> str:
    """Where that text stands below `root()`: a folder of headers may have one in place of the processor's."""
    path = Path(name)
    instead = path.parent / kind / path.name
    return str(instead) if (root() / instead).is_file() else name


@cache
def headers(name: str, kind: str = "device") -> dict[str, str]:
    """Every header that the text `name` includes, by the name it is included under; the C library's
    are empty.
    """
    found: dict[str, str] = dict.fromkeys(LIBRARY, "")
    waiting = [name]
    while waiting:
        for included in INCLUDE.findall(source(waiting.pop(), kind)):
            if included not in found:
                found[included] = source(included, kind)
                waiting.append(included)
    return found


def files() -> list[str]:
    """Every text that a wheel carries, by its path below `root()`."""
    found: set[str] = set()
    for name, family in FAMILIES.items():
        for kind in ("device", "chain") if name in CHAINED else ("device",):
            names = (name for name, text in headers(family.text, kind).items() if text)
            found.update(place(name, kind) for name in (family.text, *names))
    return sorted(found)


@cache
def kernel(family: str) -> str:
    """The program text of a family: its table is cut off, for a device has loops by their symbols."""
    text = source(FAMILIES[family].text)
    return (
        "#define TD_DEVICE 1\n"
        + re.split(r"^const td_loop_entry TD_TABLE", text, flags=re.MULTILINE)[0]
    )


@cache
def loops() -> dict[str, list[str]]:
    """(family, loop) of "name dtype", as the build found them in the tables."""
    found: dict[str, list[str]] = json.loads(Path(__file__).with_name("loops.json").read_text())
    return found
