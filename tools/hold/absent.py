"""Take names that exist by now out of `absent.txt`; `--check` only lists them, and fails if there are any."""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path
from types import ModuleType

FILE = Path(__file__).parents[2] / "packages/core/src/taeda/_torch_names/absent.txt"


def exists(place: str, name: str) -> bool:
    """Whether `place.name` is an attribute, or a module that can be imported."""
    if place == "taeda.Tensor":
        return hasattr(importlib.import_module("taeda").Tensor, name)
    try:
        module: ModuleType = importlib.import_module(place)
        if hasattr(module, name):
            return True
        importlib.import_module(f"{place}.{name}")
    except ImportError:
        return False
    return True


def present(text: str) -> list[str]:
    """The names of the file that exist."""
    found = []
    for line in text.splitlines():
        if line.startswith(" "):
            place, _, names = line.strip().partition(": ")
            found += [f"{place}.{name}" for name in names.split() if exists(place, name)]
    return found


def without(text: str, gone: set[str]) -> str:
    """The text without these names, without places that have none left, and without reasons that no
    place has.
    """
    kept: list[str] = []
    for line in text.splitlines():
        if not line.startswith(" "):
            kept[-1:] = [line] if kept and not kept[-1].startswith(" ") else [*kept[-1:], line]
            continue
        place, _, names = line.strip().partition(": ")
        left = [name for name in names.split() if f"{place}.{name}" not in gone]
        kept += [f"    {place}: {' '.join(left)}"] if left else []
    while kept and not kept[-1].startswith(" "):
        kept.pop()
    return "\n".join(kept) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    text = FILE.read_text()
    found = present(text)
    print("\n".join(found) or "no name of the file exists")
    if parser.parse_args().check:
        sys.exit(bool(found))
    FILE.write_text(without(text, set(found)))


if __name__ == "__main__":
    main()
