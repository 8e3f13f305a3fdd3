"""What tools read from source files: a text is parsed once for all who ask, and what they found is
kept until the text or a tool changes.

    facts.of(function, text, "taeda/nn/init.py")      function(text, "taeda/nn/init.py"), a list
                                                      that JSON can hold

`functions` walk `nodes(text)`. Ask all of them for one file before the next (`read`), so that its
tree is made once. `save` writes what this process asked into `.cache/facts` of the checkout;
nothing else is kept there, and the folder can be deleted at any time.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

__all__ = ["nodes", "of", "read", "save", "texts", "tree"]

TOOLS = Path(__file__).resolve().parent
FOLDER = TOOLS.parents[1] / ".cache" / "facts"
Function = Callable[..., Iterable[Any]]
# function -> digest of what it was given -> what it found
_asked: dict[str, dict[str, list[Any]]] = {}


@lru_cache(maxsize=1)
def tree(text: str) -> ast.Module:
    """The syntax tree of a file; that of the last text is kept."""
    return ast.parse(text)


@lru_cache(maxsize=1)
def nodes(text: str) -> list[ast.AST]:
    """All nodes of the tree, in the order of `ast.walk`."""
    return list(ast.walk(tree(text)))


def of(function: Function, text: str, *more: str) -> list[Any]:
    """What `function(text, *more)` yields, as JSON holds it: tuples are lists."""
    name = f"{function.__module__.removeprefix('by_path_tools_hold_')}.{function.__name__}"
    given = hashlib.blake2b("\0".join((text, *more)).encode(), digest_size=12).hexdigest()
    asked = _asked.setdefault(name, {})
    if given not in asked:
        known = _kept(name).get(given)
        asked[given] = json.loads(json.dumps([*function(text, *more)])) if known is None else known
    return asked[given]


def read(text: str, functions: Iterable[Function], *more: str) -> None:
    """Ask every function about one text."""
    for function in functions:
        of(function, text, *more)


def save() -> None:
    """Keep what this process asked, in place of what an earlier one did.
    A folder that cannot be written keeps nothing.
    """
    with contextlib.suppress(OSError):
        FOLDER.mkdir(parents=True, exist_ok=True)
        for name, found in _asked.items():
            if found.keys() != _kept(name).keys():
                beside = FOLDER / f"{name}.{os.getpid()}"
                beside.write_text(json.dumps({"tools": _tools(), "found": found}))
                beside.replace(FOLDER / f"{name}.json")


@cache
def _kept(name: str) -> dict[str, list[Any]]:
    """What an earlier process found with the same tools."""
    try:
        kept = json.loads((FOLDER / f"{name}.json").read_text())
        return dict(kept["found"]) if kept["tools"] == _tools() else {}
    except (OSError, ValueError, TypeError, KeyError):  # absent, or not what `save` wrote
        return {}


@cache
def _tools() -> str:
    """A digest of the tools themselves and of the Python that parses."""
    digest = hashlib.blake2b(sys.version.encode(), digest_size=12)
    for path in sorted(TOOLS.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def texts(source: Path) -> Iterator[tuple[Path, str, str]]:
    """(path, its text, the path below `source`) of the Python files of a folder."""
    for path in sorted(source.rglob("*.py")):
        yield path, path.read_text(), path.relative_to(source).as_posix()
