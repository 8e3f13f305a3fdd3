"""What stands in the way of porting a file: names that are absent, torch by text, libraries on torch."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from typing import Any

__all__ = ["obstacles"]

DOTTED = re.compile(r"torch(\.\w+)*")
IMPORT = re.compile(r"\b(import|from)\s+torch\b")
ON_TORCH = (
    "imports torch itself, and its tensors would not be these: keep the file and run it with "
    "`python -m taeda run`, or call taeda.install_as_torch() first"
)
#: calls that import, find or replace by a name in a string
BY_NAME = frozenset({"import_module", "__import__", "find_spec", "patch", "object", "reload"})


def obstacles(tree: ast.Module) -> list[str]:
    """A sentence `LINE: why` for everything that an edit of the imports would leave wrong."""
    names = _bound(tree)
    found = {*_absent(tree, names), *_by_text(tree), *_libraries(tree), *_hidden(tree)}
    return [f"{line}: {why}" for line, why in sorted(found)]


def _bound(tree: ast.Module) -> dict[str, str]:
    """Name in the program -> the path of torch that an import gave it."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.partition(".")[0] == "torch":
                    names[alias.asname or "torch"] = alias.name if alias.asname else "torch"
        elif (
            isinstance(node, ast.ImportFrom)
            and not node.level
            and DOTTED.fullmatch(node.module or "")
        ):
            names |= {a.asname or a.name: f"{node.module}.{a.name}" for a in node.names}
    return names


def _absent(tree: ast.Module, names: dict[str, str]) -> Iterator[tuple[int, str]]:
    """Imports and attributes that taeda does not have. A name that the program also binds otherwise is
    not followed.
    """
    others = {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            wanted = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            wanted = [f"{node.module}.{a.name}".removesuffix(".*") for a in node.names]
        elif isinstance(node, ast.Attribute) and (path := _path(node)):
            root, _, rest = path.partition(".")
            wanted = [f"{names[root]}.{rest}"] if root in names and root not in others else []
        else:
            continue
        for path in wanted:
            if DOTTED.fullmatch(path) and (why := _why_absent(path)):
                yield node.lineno, why


def _path(node: ast.expr) -> str:
    """`a.b.c` of attributes of a name, or ''."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (before := _path(node.value)):
        return f"{before}.{node.attr}"
    return ""


@cache
def _why_absent(path: str) -> str:
    """Why `path` of torch does not exist here, or ''. Behind a class or a value nothing is asked."""
    place: Any = importlib.import_module("taeda")
    reached = "taeda"
    for name in path.split(".")[1:]:
        if not hasattr(place, "__path__") and not isinstance(place, type(ast)):
            return ""
        try:
            place = getattr(place, name)
        except AttributeError as error:
            try:
                place = importlib.import_module(f"{reached}.{name}")
            except ImportError as missing:
                return _sentence(f"{reached}.{name}", error if str(error) else missing)
        except ImportError as missing:  # a package of ours that is not installed, and how to get it
            return _sentence(f"{reached}.{name}", missing)
        reached += f".{name}"
    return ""


def _sentence(ours: str, error: Exception) -> str:
    return f"torch{ours.removeprefix('taeda')} is not there: {str(error).splitlines()[0]}"


def _by_text(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Modules of torch that are named in strings."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            function = node.func
            called = getattr(function, "attr", getattr(function, "id", ""))
            texts = [*node.args, *(word.value for word in node.keywords)]
            if called not in BY_NAME:
                continue
        elif isinstance(node, ast.Subscript) and _path(node.value).endswith("modules"):
            texts = [node.slice]
        else:
            continue
        for text in texts:
            if DOTTED.fullmatch(_text(text)):
                yield text.lineno, f"{_text(text)!r} is a name in a string: write it as you mean it"


def _text(node: ast.expr) -> str:
    """The string that stands there, or ''."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _hidden(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Imports inside of strings that are run, and `taeda` as a name of something else."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in (
            "exec",
            "eval",
            "compile",
        ):
            for text in node.args:
                if IMPORT.search(_text(text)):
                    yield node.lineno, "a string that is run imports torch: rewrite it by hand"
        elif (
            isinstance(node, ast.Name) and node.id == "taeda" and not isinstance(node.ctx, ast.Load)
        ):
            yield node.lineno, "the program has a name `taeda` of its own: give it another"


def _libraries(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Imports of libraries that import torch themselves: their tensors would be torch's."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            tops = [alias.name.partition(".")[0] for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            tops = [node.module.partition(".")[0]]
        else:
            continue
        for top in tops:
            if top != "torch" and _needs_torch(top):
                yield node.lineno, f"{top} {ON_TORCH}"


@cache
def _needs_torch(top: str) -> bool:
    """Whether a module's distribution requires torch. One that is not installed is judged by its name."""
    owners = _owners().get(top, ())
    if not owners:
        return top.startswith("torch")
    required = (text for owner in owners for text in metadata.requires(owner) or ())
    return any(re.match(r"torch(?![\w-])", text) and "extra ==" not in text for text in required)


@cache
def _owners() -> dict[str, list[str]]:
    return dict(metadata.packages_distributions())
