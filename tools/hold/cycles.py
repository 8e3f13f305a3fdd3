"""Imports make no cycle: threads that import from both ends would wait for each other.

Those inside functions count too, unless their line says why it stands there: `# late: it needs Tensor`.
`from package import name` counts as an import of the module `package.name` if there is one, and of
the package else; a module does not count as an importer of the packages it lies in, for those run
when they are asked (`taeda._parts.packages`).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import facts

__all__ = ["check", "cycles", "imports"]

LATE = re.compile(r"#.*\blate: \S")


def check(packages: Iterable[Any]) -> list[str]:
    """A sentence for each cycle."""
    files: dict[str, Path] = {}
    for package in packages:
        files |= modules(package.folder / "src")
    found = cycles({name: imports(name, path, files) for name, path in files.items()})
    early = [f"modules import each other when they are imported: {', '.join(c)}" for c in found]
    every = {name: imports(name, path, files, late=True) for name, path in files.items()}
    return early or [
        f"modules import each other in functions: {', '.join(c)}; write `# late: why` on the line that is to "
        "stay, or import downward alone"
        for c in cycles(every)
    ]


def modules(source: Path) -> dict[str, Path]:
    """The modules below a folder, by name."""
    found = {}
    for path in sorted(source.rglob("*.py")):
        parts = path.relative_to(source).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(name: str, path: Path, known: Iterable[str], late: bool = False) -> set[str]:
    """Which of the known modules it imports when it is imported; with `late` in functions as well."""
    known, found = set(known), set[str]()
    where = f"{name.replace('.', '/')}{'/__init__' * (path.name == '__init__.py')}.py"
    text = path.read_text()
    for base, last in (
        *facts.of(statements, text, where),
        *(facts.of(lates, text, where) if late else ()),
    ):
        found.add(f"{base}.{last}" if f"{base}.{last}" in known else base)
    return (found & known) - {name}


def statements(text: str, inside: str) -> Iterator[tuple[str, str]]:
    """(module, name taken from it or "") of the imports that run with the text of `taeda/nn/init.py`."""
    for statement in _at_import(facts.tree(text).body):
        yield from _taken(statement, inside)


def lates(text: str, inside: str) -> Iterator[tuple[str, str]]:
    """The same of imports inside of functions, but for those whose last line says why."""
    lines = text.splitlines()
    for function in facts.nodes(text):
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for statement in ast.walk(function):
                if isinstance(statement, (ast.Import, ast.ImportFrom)) and not LATE.search(
                    lines[(statement.end_lineno or 1) - 1]
                ):
                    yield from _taken(statement, inside)


def _taken(statement: ast.Import | ast.ImportFrom, inside: str) -> Iterator[tuple[str, str]]:
    base = "" if isinstance(statement, ast.Import) else _base(statement, inside)
    for alias in statement.names:
        yield (base, alias.name) if base else (alias.name, "")


def _base(statement: ast.ImportFrom, inside: str) -> str:
    if not statement.level:
        return statement.module or ""
    parts = inside.split("/")[:-1]
    parts = parts[: len(parts) - statement.level + 1]
    return ".".join([*parts, *([statement.module] if statement.module else [])])


def _at_import(body: Iterable[Any]) -> Iterator[Any]:
    """Import statements that run with the module: not those of functions, nor those for type checkers."""
    for node in body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node
        elif isinstance(node, ast.If):
            yield from () if "TYPE_CHECKING" in ast.unparse(node.test) else _at_import(node.body)
            yield from _at_import(node.orelse)
        elif isinstance(node, (ast.Try, ast.With, ast.ClassDef)):
            yield from _at_import(node.body)


def cycles(graph: dict[str, set[str]]) -> list[list[str]]:
    """The modules that lie on a cycle, one sorted list for each knot: what is left when ends are
    taken off at both sides.
    """
    left = {name: set(to) for name, to in graph.items()}
    while True:
        used = {to for name in left for to in left[name]}
        ends = [n for n in left if not left[n] & left.keys() or n not in used]
        if not ends:
            break
        for name in ends:
            del left[name]
    return [sorted(left)] if left else []
