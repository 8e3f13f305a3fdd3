"""What siblings use of core: its public names, the listed ones of `taeda._core_api`, and nothing
else of its private modules.

Read from the syntax tree. A private name is one with a part that begins with an underscore; it may
come by an import, as an attribute of `taeda`, or as text given to `import_module`. Allowed are the
rows of the op table (`taeda._fused_adam_`) and what the field knows by such a name.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import facts
import layers

if TYPE_CHECKING:
    from packages import Package

__all__ = ["check", "listed", "uses"]

ROOM = "taeda._core_api"
#: names of the field that begin with an underscore and are for everybody
KNOWN = {
    "taeda._assert",
    "taeda.utils._python_dispatch.TorchDispatchMode",
    "taeda.utils._python_dispatch.is_traceable_wrapper_subclass",
}
ROW = re.compile(r"""["'](_\w+)[.(]|["'](_\w+_)\{""")


def check(packages: Iterable[Package]) -> list[str]:
    """A sentence for every use of a private name of core, and for every one of the listed modules
    that is not listed.
    """
    packages = list(packages)
    core = next((p for p in packages if p.name == "taeda-core"), None)
    if core is None:
        return []
    source = core.folder / "src"
    names, rows = listed(source), set(_rows(source))
    siblings = [p for p in packages if p is not core]
    return [*_unused(siblings, names)] + [
        wrong for package in siblings for wrong in _check_package(package, source, names, rows)
    ]


def listed(source: Path) -> dict[str, set[str]]:
    """The names in `__all__` of every module of the room, by the module's name."""
    found = {}
    for path in sorted((source / "taeda" / "_core_api").glob("*.py")):
        module = ROOM if path.stem == "__init__" else f"{ROOM}.{path.stem}"
        found[module] = set(_all_of(path))
    return found


def _unused(siblings: Iterable[Package], names: dict[str, set[str]]) -> Iterator[str]:
    """A sentence for every listed name that no sibling says: a promise to nobody."""
    texts = [text for p in siblings for _, text, _ in facts.texts(p.folder / "src")]
    said = {word for text in texts for word in facts.of(words, text)}
    for module in sorted(names):
        for name in sorted(names[module] - said):
            yield f"{module} lists {name}, which no sibling uses"


def words(text: str) -> set[str]:
    """The words of a file."""
    return set(re.findall(r"\w+", text))


def _all_of(path: Path) -> list[str]:
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return list(ast.literal_eval(node.value))
    raise ValueError(f"{path} has no __all__")


def _rows(source: Path) -> Iterator[str]:
    """Names of operators that begin with an underscore, as the table's files spell them."""
    for path in (source / "taeda" / "_table").glob("[a-z]*.py"):
        yield from (one or other for one, other in ROW.findall(path.read_text()))


def _check_package(
    package: Package, source: Path, names: dict[str, set[str]], rows: set[str]
) -> Iterator[str]:
    for path, text, inside in facts.texts(package.folder / "src"):
        for line, name in facts.of(uses, text, inside):
            where = f"{package.name}: {path.relative_to(package.folder)}:{line}"
            if name.startswith(f"{ROOM}.") or name == ROOM:
                module, _, last = name.rpartition(".")
                if name not in names and last not in names.get(module, ()):
                    yield f"{where} uses {name}, which is not in __all__ of {module or name}"
            elif _is_own(name, package.folder / "src"):
                continue
            elif _is_private(name, source) and name.partition(".")[2] not in rows:
                yield f"{where} uses {name}, a private name of core; what siblings may use is in {ROOM}"


def _is_own(name: str, source: Path) -> bool:
    """Does the package bring this part of `taeda` itself, as `taeda._dynamo`?"""
    first = source.joinpath(*name.split(".")[:2])
    return first.is_dir() and (first / "__init__.py").is_file()


def uses(text: str, inside: str) -> Iterator[tuple[int, str]]:
    """(line, dotted name) of what the text of `taeda/nn/init.py` uses of `taeda`."""
    parts = layers.parts_of(inside)
    for node in facts.nodes(text):
        for name in (*layers.names_of(node, parts), *_loaded_by_text(node)):
            if name.startswith("taeda."):
                yield node.lineno, name


def _loaded_by_text(node: ast.AST) -> Iterator[str]:
    """The text, up to its first gap, that is given to `import_module`."""
    if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
        given = node.args[0] if node.args else None
        parts = given.values if isinstance(given, ast.JoinedStr) else [given]
        if isinstance(parts[0], ast.Constant) and isinstance(parts[0].value, str):
            yield parts[0].value


def _is_private(name: str, source: Path) -> bool:
    """Does the name lead through a private part of core? What a sibling keeps for itself is not core's."""
    parts = name.split(".")
    if name in KNOWN or all(not p.startswith("_") or p.startswith("__") for p in parts):
        return False
    first = next(i for i, p in enumerate(parts) if p.startswith("_") and not p.startswith("__"))
    owner = source.joinpath(*parts[:first])
    return owner.with_suffix(".py").is_file() or (owner / "__init__.py").is_file()
