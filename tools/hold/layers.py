"""Imports only downward: a package imports the siblings and the outside distributions that it declares.

Read from the syntax tree, so nothing is imported. Three spellings reach a sibling:
`import taeda.nn`, `from taeda import nn` (or a name that core fetches from a sibling, such as
`no_grad`), and `taeda.nn` as an attribute. A use that only happens where the sibling is surely
there says so on its line: `# upward: <why it is there>`.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import facts

if TYPE_CHECKING:
    from packages import Package

__all__ = ["check", "imports", "names_of", "owners", "parts_of"]

UPWARD = re.compile(r"# upward: \w+")
# Packages whose module is not named as the distribution is.
MODULES = {
    "scikit-learn": "sklearn",
    "pillow": "PIL",
    "cupy-cuda12x": "cupy",
    "cupy-cuda13x": "cupy",
}
#: a file that only this program runs, so it is there
RUN_BY = {"hook-taeda.py": "PyInstaller"}


def check(packages: Iterable[Package]) -> list[str]:
    """A sentence for every import of something that is not declared."""
    packages = list(packages)
    owned = owners(packages)
    return [wrong for package in packages for wrong in _check_package(package, owned)]


def owners(packages: list[Package]) -> Callable[[str], str]:
    """A function from a dotted name of taeda to the distribution behind it."""
    owner = {module: package.name for package in packages for module in _modules(package)}
    lazy = _lazy_names(packages)
    return lambda name: _owner(name, owner, lazy)


def _check_package(package: Package, owned: Callable[[str], str]) -> Iterator[str]:
    outside = {_module_of(requirement) for requirement in package.others}
    allowed = {package.name, *package.siblings}
    for path, text, inside in facts.texts(package.folder / "src"):
        for line, name in facts.of(imports, text, inside):
            where = f"{path.relative_to(package.folder)}:{line}"
            top = name.partition(".")[0]
            if top == "taeda":
                target = owned(name)
                if target not in allowed:
                    yield f"{package.name} does not declare {target}, but imports {name} ({where})"
            elif top not in {*sys.stdlib_module_names, *outside, RUN_BY.get(path.name)}:
                yield f"{package.name} does not declare {top}, but imports it ({where})"


def imports(text: str, inside: str) -> Iterator[tuple[int, str]]:
    """(line, dotted name) of everything that the text of `taeda/nn/init.py` reaches outside of itself.

    A name inside `try: ... except ImportError` is optional, one marked `# upward:` explained;
    neither is reported.
    """
    nodes, lines, parts = facts.nodes(text), text.splitlines(), parts_of(inside)
    optional = {id(node) for block in nodes if _guards(block) for node in ast.walk(block)}
    for node in nodes:
        for name in () if id(node) in optional else names_of(node, parts):
            if not UPWARD.search(lines[node.lineno - 1]):
                yield node.lineno, name


def parts_of(inside: str) -> tuple[str, ...]:
    """`taeda/nn/init.py` as ("taeda", "nn", "init")."""
    return tuple(inside.removesuffix(".py").split("/"))


def _guards(node: ast.AST) -> bool:
    """Is this `try: ... except ImportError`?"""
    if not isinstance(node, ast.Try):
        return False
    types = [handler.type for handler in node.handlers]
    names = [part for kind in types if kind for part in ast.walk(kind)]
    return any(
        isinstance(name, ast.Name) and name.id in ("ImportError", "ModuleNotFoundError")
        for name in names
    )


def names_of(node: ast.AST, inside: tuple[str, ...]) -> Iterator[str]:
    """The dotted names that an import, or an attribute of `taeda`, reaches."""
    match node:
        case ast.Import(names=names):
            yield from (alias.name for alias in names)
        case ast.ImportFrom(module=module, names=names, level=level):
            above = inside[: len(inside) - level] if level else ()
            stem = ".".join((*above, module) if module else above)
            yield from (f"{stem}.{alias.name}" for alias in names)
        case ast.Attribute(value=ast.Name(id="taeda"), attr=attribute):
            yield f"taeda.{attribute}"
        case ast.Attribute(value=ast.Attribute(value=ast.Name(id="taeda"), attr=a), attr=b):
            yield f"taeda.{a}.{b}"


def _owner(name: str, owner: dict[str, str], lazy: dict[str, str]) -> str:
    """The distribution behind a dotted name: the longest known prefix, else core."""
    parts = name.split(".")
    for end in range(len(parts), 1, -1):
        prefix = ".".join(parts[:end])
        if prefix in owner:
            return owner[prefix]
        if prefix in lazy:
            return owner.get(lazy[prefix], "taeda-core")
    return "taeda-core"


def _modules(package: Package) -> Iterator[str]:
    """The dotted modules a package brings: `taeda.nn`, `taeda.utils.data`. Core's is what is left over."""
    source = package.folder / "src"
    for marker in source.rglob("py.typed"):
        parts = marker.parent.relative_to(source).parts
        if len(parts) > 1:
            yield ".".join(parts)


def _lazy_names(packages: list[Package]) -> dict[str, str]:
    """Names that core fetches from elsewhere, by its table `_EXPORTS`: {'taeda.no_grad':
    'taeda.autograd'}.
    """
    names: dict[str, str] = {}
    for package in packages:
        start = package.folder / "src" / "taeda" / "__init__.py"
        for node in ast.parse(start.read_text()).body if start.is_file() else ():
            target = (
                node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
            )
            if isinstance(target, ast.Name) and target.id == "_EXPORTS":
                table = _evaluate(node.value)
                names |= {
                    f"taeda.{name}": f"taeda.{home.partition(':')[0]}"
                    for name, home in table.items()
                }
    return names


def _evaluate(expression: ast.expr) -> dict[str, str]:
    """The value of a dictionary made of literals, comprehensions and `dict.fromkeys`, and nothing else."""
    code = compile(ast.Expression(expression), "_EXPORTS", "eval")
    return eval(code, {"__builtins__": {"dict": dict}})


def _module_of(requirement: str) -> str:
    name = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert name is not None
    return MODULES.get(name[0].lower(), name[0].lower().replace("-", "_"))
