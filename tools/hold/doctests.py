"""Run every example: Python blocks of the README, the docs and the packages' READMEs, and examples
in docstrings.

A block marked `python` is run as it stands; one page is one run, so a later block may use an
earlier one's names. `python tools/hold/doctests.py README.md` runs chosen pages only. The exit status is
1 if anything failed.
"""

from __future__ import annotations

import contextlib
import doctest
import functools
import importlib
import json
import os
import pkgutil
import re
import sys
import tempfile
import traceback
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("README.md", "docs/**/*.md", "packages/*/README.md", "examples/README.md")
BLOCK = re.compile(r"^```python\n(.*?)^```", re.M | re.S)


def blocks(text: str) -> Iterator[tuple[int, str]]:
    """(line, code) of every Python block of a page."""
    for match in BLOCK.finditer(text):
        yield text.count("\n", 0, match.start()) + 2, match[1]


#: what changes the text of all later examples of the process
LASTS = "taeda.install_as_torch()"


def in_a_child(run: Callable[[], tuple[int, int]]) -> tuple[int, int]:
    """What `run` gives, from a process of its own: what it installs stays there."""
    sys.stdout.flush()
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.write(writer, json.dumps(run()).encode())
        sys.stdout.flush()
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as file:
        answer = file.read()
    os.waitpid(child, 0)
    tried, failed = json.loads(answer) if answer else (1, 1)
    return tried, failed


def run_page(path: Path) -> tuple[int, int]:
    """Run the blocks of a page. Return how many were run and how many failed."""
    text = path.read_text()
    lasts = LASTS in "".join(code for _, code in blocks(text))
    # what an example saves lies in a folder that goes
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        return in_a_child(lambda: run_blocks(path, text)) if lasts else run_blocks(path, text)


def run_blocks(path: Path, text: str) -> tuple[int, int]:
    # A module that can be found, so that an example may define a class and save its objects.
    sys.modules["__example__"] = module = types.ModuleType("__example__")
    namespace = vars(module)
    tried = failed = 0
    for line, code in blocks(text):
        tried += 1
        try:
            exec(compile("\n" * (line - 1) + code, str(path), "exec"), namespace)
        except Exception:  # noqa: BLE001 - an example may fail in any way; it is shown and counted
            traceback.print_exc()
            failed += 1
    return tried, failed


def all_there(module: types.ModuleType) -> None:
    """Have the module hold its names that come when they are asked for: they have examples, too."""
    for name in (*getattr(module, "__all__", ()), *vars(module).copy()):
        getattr(module, name, None)


def run_docstrings(package: str = "taeda") -> tuple[int, int]:
    """Run the examples in docstrings of every module that can be imported here."""
    top = importlib.import_module(package)
    # of its names some hide Python's (`range`, `float`), which an example means: a user's program has both
    all_there(top)
    found = doctest.testmod(top, globs={package: top})
    tried, failed = found.attempted, found.failed
    for info in pkgutil.walk_packages(top.__path__, f"{package}."):
        if "_native." in info.name or "_pyinstaller." in info.name:  # another program runs the hook
            continue
        module = importlib.import_module(info.name)
        run = functools.partial(run_docstrings_of, module, {package: top})
        path = getattr(module, "__file__", None) or ""
        lasts = path.endswith(".py") and f">>> {LASTS}" in Path(path).read_text()
        more = in_a_child(run) if lasts else run()
        tried, failed = tried + more[0], failed + more[1]
    return tried, failed


def run_docstrings_of(module: types.ModuleType, names: dict[str, Any]) -> tuple[int, int]:
    all_there(module)
    found = doctest.testmod(module, extraglobs=names)
    return found.attempted, found.failed


def main(arguments: list[str]) -> int:
    chosen = [Path(name).resolve() for name in arguments]
    pages = chosen or sorted({path for pattern in PAGES for path in ROOT.glob(pattern)})
    counts = [run_page(path) for path in pages]
    if not chosen:
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            counts.append(run_docstrings())
    tried, failed = map(sum, zip(*counts, strict=True))
    print(
        f"{len(pages)} pages and the docstrings: {tried - failed} examples passed, {failed} failed"
    )
    return int(failed > 0 or tried == 0)


if __name__ == "__main__":
    os.chdir(ROOT)
    sys.exit(main(sys.argv[1:]))
