"""One way to write files: whatever a package writes goes through `taeda._io.atomic.atomic_write`.

Read from the syntax tree. A write that may leave half a file on purpose says so on its lines or in the
comment above them: `# half-written: <why that does no harm>`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import facts

if TYPE_CHECKING:
    from packages import Package

__all__ = ["check", "writes"]

ALLOWED = re.compile(r"# half-written: \w+")
OPENERS = {"open", "fdopen", "FileIO", "ZipFile", "GzipFile", "BZ2File", "LZMAFile"}
METHODS = {"write_bytes", "write_text", "tofile", "memmap"}
NUMPY = {"save", "savez", "savez_compressed", "savetxt"}
MODULES = {"os", "io", "zipfile", "gzip", "bz2", "lzma"}  # whose openers take the path first
FLAGS = {"O_WRONLY", "O_RDWR", "O_CREAT"}


def check(packages: Iterable[Package]) -> list[str]:
    """A sentence for every place that writes a file by itself."""
    found = []
    for package in packages:
        for path, text, _ in facts.texts(package.folder / "src"):
            where = path.relative_to(package.folder)
            found += [
                f"{package.name} {what} ({where}:{line}): use taeda._io.atomic.atomic_write"
                for line, what in facts.of(writes, text)
            ]
    return found


def writes(text: str) -> Iterator[tuple[int, str]]:
    """(line, what is done) for every call that writes a file."""
    lines = text.splitlines()
    for node in facts.nodes(text):
        if not isinstance(node, ast.Call) or (what := _written(node)) is None:
            continue
        if not ALLOWED.search("\n".join(lines[_above(lines, node.lineno) : node.end_lineno])):
            yield node.lineno, what


def _above(lines: list[str], line: int) -> int:
    """Where the comment above a line begins, counted from 0; the line itself if there is none."""
    begin = line - 1
    while begin and lines[begin - 1].lstrip().startswith("#"):
        begin -= 1
    return begin


def _written(call: ast.Call) -> str | None:
    name, owner = _name(call.func)
    if name in METHODS or (name in NUMPY and owner in ("np", "numpy")):
        return f"calls {name}()"
    if name not in OPENERS:
        return None
    if name == "open" and owner == "os":
        flags = {n.attr for n in ast.walk(call) if isinstance(n, ast.Attribute)} - {"open"}
        return "calls os.open() with a flag to write" if flags & FLAGS or not flags else None
    of_a_path = owner and owner not in MODULES and len(call.args) < 2
    mode = _mode(call, 0 if of_a_path else 1)
    return f"calls {name}() with mode {mode!r}" if set(mode) & set("wax+?") else None


def _name(function: ast.expr) -> tuple[str, str]:
    """`open` and the object that it belongs to, "" for none."""
    if isinstance(function, ast.Attribute):
        owner = function.value
        return function.attr, owner.id if isinstance(owner, ast.Name) else "?"
    return (function.id, "") if isinstance(function, ast.Name) else ("", "")


def _mode(call: ast.Call, place: int) -> str:
    """The mode that a call opens with: "r" by default, "?" for one that is computed."""
    given = [keyword.value for keyword in call.keywords if keyword.arg == "mode"]
    given += call.args[place : place + 1]
    if not given:
        return "r"
    texts = [part.value for part in ast.walk(given[0]) if isinstance(part, ast.Constant)]
    return "".join(text for text in texts if isinstance(text, str)) or "?"
