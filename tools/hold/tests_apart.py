"""A package's tests are collected with what it declares alone: no file of them reaches a sibling that is not
declared while it is imported.

Inside of a test such a sibling may be reached: where it is absent, that test is skipped (`siblings`). At the
top of a file it ends the collection of all tests. Read from the syntax tree.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import facts
import layers

if TYPE_CHECKING:
    from packages import Package

__all__ = ["check", "early"]

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def check(packages: Iterable[Package]) -> list[str]:
    """A sentence for every sibling that tests want and the package does not declare."""
    packages = list(packages)
    owned = layers.owners(packages)
    found = []
    for package in packages:
        allowed = {package.name, *package.siblings}
        for path, text, _ in facts.texts(package.folder / "tests"):
            for line, name in facts.of(early, text):
                if (target := owned(name)) not in allowed:
                    where = f"{path.relative_to(package.folder)}:{line}"
                    found.append(
                        f"{package.name} does not declare {target}, but {where} wants {name} when it is "
                        "collected: reach it inside of the test, or by pytest.importorskip"
                    )
    return found


def early(text: str) -> Iterator[tuple[int, str]]:
    """(line, dotted name) of what a file of tests reaches of taeda while it is imported.

    >>> [*early("from taeda import nn\\nx = lambda: taeda.optim.SGD\\n")]
    [(1, 'taeda.nn')]
    """
    if "importorskip(" in text:  # whatever stands behind it is not reached where it is absent
        return
    for node in _run(facts.tree(text)):
        for name in layers.names_of(node, ()):
            if name.partition(".")[0] == "taeda":
                yield node.lineno, name  # type: ignore[attr-defined]  # imports and attributes have lines


def _run(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes that run when a module does: no bodies of functions, nor annotations."""
    for child in _children(node):
        yield child
        yield from _run(child)


def _children(node: ast.AST) -> Iterable[ast.AST]:
    if isinstance(node, FUNCTIONS):
        defaults = [*node.args.defaults, *(one for one in node.args.kw_defaults if one)]
        return [*node.decorator_list, *defaults]
    if isinstance(node, ast.Lambda):
        return [*node.args.defaults, *(one for one in node.args.kw_defaults if one)]
    if isinstance(node, ast.AnnAssign):
        return [] if node.value is None else [node.value]
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
        return node.orelse
    if isinstance(node, ast.Try):
        return [*node.orelse, *node.finalbody]  # what may be absent is caught
    return ast.iter_child_nodes(node)
