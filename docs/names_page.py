"""Write what the search box of "Coming from PyTorch" knows: each name that PyTorch documents, and what
it is here: the same, different (a row of parity.md says how), or absent with what to do instead.

    python docs/names_page.py       where PyTorch is installed: write torch_more_names.txt, the names that
                                    are here and that PyTorch has, but does not document (`torch.relu`)
"""

from __future__ import annotations

import importlib
import inspect
import json
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import api_pages

from taeda._torch_names.absent import table

__all__ = ["Name", "names", "write"]

HERE = Path(__file__).resolve().parent
MORE = "torch_more_names.txt"
SAME, DIFFERS, ABSENT, OURS = range(4)
NOTHING, UNKNOWN = object(), object()
NO_REASON = "There is nothing of this name here."


class Name(NamedTuple):
    """A row: the name without the library, what it is here, a sentence, and the address of its text."""

    name: str
    status: int
    text: str
    link: str


def write(path: Path) -> None:
    """Write the script that the page loads, unless it already says the same."""
    texts: dict[str, int] = {}
    pages: dict[str, int] = {}
    rows = []
    for name, status, text, link in names():
        page, _, anchor = link.partition("#")
        row = [name, status, texts.setdefault(text, len(texts)), pages.setdefault(page, len(pages))]
        rows.append([*row, anchor] if anchor not in ("", f"taeda.{name}") else row)
    data = {"texts": [*texts], "pages": [*pages], "rows": rows}
    text = f"const NAMES={json.dumps(data, separators=(',', ':'))};\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def names() -> list[Name]:
    """Every name that PyTorch documents, and every one of ours, in order."""
    links, rows, reasons = _links(), _differences(), table()
    made = []
    documented = set(_listed("torch_names.txt")) | (links.keys() & set(_listed(MORE)))
    for name in sorted(documented):
        value = _found(f"taeda.{name}".split("."))
        if value is UNKNOWN:
            continue
        if value is NOTHING:
            made.append(Name(name, ABSENT, _reason(name, reasons), ""))
            continue
        said = _said(name, rows)
        shown = api_pages._shown.get(api_pages._key(value), "").removeprefix("taeda.")
        link = links.get(name) or links.get(shown, "")
        made.append(Name(name, DIFFERS if said else SAME, said, link))
    ours = (Name(name, OURS, "", link) for name, link in links.items() if name not in documented)
    return sorted([*made, *ours])


def write_more(path: Path) -> None:
    """Write which names of ours PyTorch has without documenting them."""
    torch = importlib.import_module("torch")
    warnings.simplefilter("ignore")  # names that PyTorch will drop say so when they are looked at
    known = set(_listed("torch_names.txt"))
    more = [name for name in _links() if name not in known and _has(torch, name)]
    places: dict[str, list[str]] = {}
    for name in sorted(more):
        place, _, last = f"torch.{name}".rpartition(".")
        places.setdefault(place, []).append(last)
    head = (
        "# names that are here, and that PyTorch has but does not document, by where they stand\n"
    )
    path.write_text(head + "".join(f"{p}: {' '.join(found)}\n" for p, found in places.items()))


def _has(torch: Any, name: str) -> bool:
    value = torch
    parts = name.split(".")
    for number, part in enumerate(parts, 1):
        try:
            value = getattr(value, part)
        except (AttributeError, ImportError, RuntimeError):
            try:
                value = importlib.import_module(".".join(["torch", *parts[:number]]))
            except (ImportError, RuntimeError, AttributeError):
                return False
    return True


def _listed(file: str) -> Iterator[str]:
    """The names of a file, without the library."""
    for line in (HERE / file).read_text().splitlines():
        place, _, words = line.partition(": ")
        if line[:1] != "#":
            yield from (re.sub(r"^(torch\.)+", "", f"{place}.{word}") for word in words.split())


def _reason(name: str, reasons: dict[str, str]) -> str:
    """Why it is absent. Of a module that is absent, all is."""
    parts = f"taeda.{name}".split(".")
    paths = (".".join(parts[:count]) for count in range(len(parts), 1, -1))
    return next((reasons[path] for path in paths if path in reasons), NO_REASON)


def _found(parts: list[str]) -> Any:
    """What a path names: NOTHING if there is nothing, UNKNOWN for what only objects of a class may have."""
    value: Any = importlib.import_module(parts[0])
    around = value
    for number, part in enumerate(parts[1:], 2):
        try:
            value, around = getattr(value, part), value
        except (AttributeError, ImportError, RuntimeError):
            try:
                value = importlib.import_module(".".join(parts[:number]))
            except ImportError:
                if inspect.isclass(value):
                    return UNKNOWN
                # a function may hide the module of its name
                if getattr(value, "__name__", "") == part:
                    return value
                return getattr(around, part, _hidden(parts[: number - 1], part))
    return value


def _hidden(place: list[str], name: str) -> Any:
    """A name of a module that a function of the same name hides."""
    try:
        return getattr(importlib.import_module(".".join(place)), name, NOTHING)
    except ImportError:
        return NOTHING


def _links() -> dict[str, str]:
    """Where the text of each of our names stands, by its name without the library."""
    found = {}
    for page in api_pages._pages():
        for name, value in page.entries:
            if isinstance(value, api_pages._Seen):
                continue
            address = f"reference/api/{page.file}.html"
            found[name.removeprefix("taeda.")] = f"{address}#{name}"
            for member, _ in api_pages._members(value) if inspect.isclass(value) else ():
                full = f"{name}.{member}"
                found[full.removeprefix("taeda.")] = f"{address}#{full}"
    return found


def _differences() -> list[tuple[set[str], str]]:
    """The rows of parity.md: the names in their first cell, and the row as a sentence."""
    made = []
    for line in (HERE / "parity.md").read_text().splitlines():
        cells = re.split(r"(?<!\\)\|", line)[1:-1]
        if len(cells) < 2 or set(line) <= set("|- "):
            continue
        what, here = (cell.strip() for cell in cells[:2])
        words = {word.partition("(")[0] for word in re.findall(r"`([^`]+)`", what)}
        named = {
            word.rstrip("_") for word in words if re.fullmatch(r"[A-Za-z_][\w.]*(\(.*)?", word)
        }
        if named:
            made.append(
                (named, re.sub(r"\{doc\}`([^`]+)`", r"\1", f"{what}: {here}").replace("`", ""))
            )
    return made


def _said(name: str, rows: list[tuple[set[str], str]]) -> str:
    """The rows that name it, or its function."""
    short = name.removeprefix("Tensor.").removesuffix("_")
    ends = {".".join(short.split(".")[k:]) for k in range(short.count(".") + 1)}
    return "; ".join(text for named, text in rows if ends & named)


if __name__ == "__main__":
    write_more(HERE / MORE)
