"""Out of memory keeps its type: no handler of RuntimeError takes OutOfMemoryError, which is one,
for something else.

Read from the syntax tree. Such a handler raises again, or stands behind one of MemoryError in the
same `try`, or says on its line what becomes of it: `# out of memory: <what>`. A handler of every
Exception has its reason behind `noqa: BLE001`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import facts

if TYPE_CHECKING:
    from packages import Package

__all__ = ["check", "swallows"]

ALLOWED = re.compile(r"# out of memory: \w+|noqa: BLE001 - \w+")
TAKEN = {"RuntimeError", "Exception", "BaseException"}
KEPT = {"MemoryError", "OutOfMemoryError"}


def check(packages: Iterable[Package]) -> list[str]:
    """A sentence for every handler that may take out of memory for something else."""
    found = []
    for package in packages:
        for path, text, _ in facts.texts(package.folder / "src"):
            where = path.relative_to(package.folder)
            found += [
                f"{package.name} {what} ({where}:{line}), and out of memory is one: put `except "
                "MemoryError: raise` before it"
                for line, what in facts.of(swallows, text)
            ]
    return found


def swallows(text: str) -> Iterator[tuple[int, str]]:
    """(line, what is done) for every such handler."""
    lines = text.splitlines()
    for node in facts.nodes(text):
        if isinstance(node, ast.Call) and "suppress" in _names(node.func):
            taken = TAKEN & {name for argument in node.args for name in _names(argument)}
            if taken and not ALLOWED.search(lines[node.lineno - 1]):
                yield node.lineno, f"suppresses {min(taken)}"
        if not isinstance(node, (ast.Try, ast.TryStar)):
            continue
        kept = False
        for handler in node.handlers:
            names = _names(handler.type)
            kept = kept or bool(names & KEPT)
            taken = names & TAKEN if handler.type else {"BaseException"}
            if (
                taken
                and not kept
                and not _raises(handler)
                and not ALLOWED.search(lines[handler.lineno - 1])
            ):
                yield handler.lineno, f"catches {min(taken)}"


def _names(kinds: ast.expr | None) -> set[str]:
    parts = kinds.elts if isinstance(kinds, ast.Tuple) else [kinds] if kinds else []
    return {
        p.attr if isinstance(p, ast.Attribute) else p.id
        for p in parts
        if isinstance(p, (ast.Attribute, ast.Name))
    }


def _raises(handler: ast.ExceptHandler) -> bool:
    """Whether the last thing it does is to raise what it caught."""
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None
