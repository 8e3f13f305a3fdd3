"""The formatter decides how code looks, but for tables: `# fmt: skip` stands behind those alone.

    python tools/hold/skips.py         a sentence for each mark behind what is no table
    python tools/hold/skips.py --fix   takes those marks away; `ruff format` does the rest

A table is a list, tuple, set or dict over several lines, of which at least one holds several entries
or every one is a row: a list, a call or a pair. Names in a list of imports are one, too.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

__all__ = ["check", "marks"]

ROOT = Path(__file__).resolve().parents[2]
MARK = "# fmt: skip"
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
DISPLAYS = (ast.List, ast.Tuple, ast.Set)
ROWS = (*DISPLAYS, ast.Dict, ast.Call, ast.Lambda)


def marks(text: str) -> Iterator[int]:
    """The lines of marks that stand behind no table."""
    lines = text.splitlines()
    marked = [number for number, line in enumerate(lines, 1) if line.endswith(MARK)]
    if not marked:
        return
    parts = list(_parts(ast.parse(text)))
    for number in marked:
        around = [part for part in parts if _first(part) <= number <= _last(part)]
        smallest = min(around, key=lambda part: _last(part) - _first(part), default=None)
        if smallest is None or not any(_is_table(node) for node in ast.walk(smallest)):
            yield number


def _parts(tree: ast.Module) -> Iterator[ast.AST]:
    """Simple statements, and of others the decorators and what stands in their first line."""
    for node in ast.walk(tree):
        if isinstance(node, DEFINITIONS):
            yield from node.decorator_list
        elif isinstance(node, ast.stmt) and not hasattr(node, "body"):
            yield node
        elif isinstance(node, ast.stmt | ast.match_case | ast.ExceptHandler):
            yield from (c for c in ast.iter_child_nodes(node) if isinstance(c, ast.expr))
            yield from (c for w in getattr(node, "items", ()) for c in ast.iter_child_nodes(w))


def _first(node: ast.AST) -> int:
    return int(getattr(node, "lineno", 0))


def _last(node: ast.AST) -> int:
    return int(getattr(node, "end_lineno", 0) or 0)


def _is_table(node: ast.AST) -> bool:
    if isinstance(node, ast.ImportFrom):
        return _last(node) > _first(node)
    if isinstance(node, ast.Dict):
        entries: list[ast.expr] = node.values
    elif isinstance(node, DISPLAYS):
        entries = node.elts
    else:
        return False
    height = _last(node) - _first(node) + 1
    if height < 2 or len(entries) < 3:
        return False
    rows = all(isinstance(entry, ROWS) for entry in entries)
    return rows or len({entry.lineno for entry in entries}) < len(entries)


def check(text: str, name: str) -> Iterator[str]:
    for number in marks(text):
        yield f"{name}:{number}: {MARK} stands behind no table; `python tools/hold/skips.py --fix`"


def _fixed(text: str) -> str:
    lines = text.split("\n")
    for number in marks(text):
        lines[number - 1] = lines[number - 1].removesuffix(MARK).rstrip()
    return "\n".join(lines)


def main(words: list[str]) -> int:
    listed = subprocess.run(
        ["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    wrong = []
    for name in listed.stdout.split():
        path = ROOT / name
        text = path.read_text()
        if "--fix" in words and (fixed := _fixed(text)) != text:
            path.write_text(text := fixed)
        wrong += check(text, name)
    print("\n".join([*wrong, f"{len(wrong)} marks behind no table"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
