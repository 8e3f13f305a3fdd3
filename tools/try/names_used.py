"""Which names of torch the sources of public libraries use, and which of them do not exist here.

names_used.py FOLDER --get     download the libraries of names_used/libraries.txt first
names_used.py FOLDER           names that torch has, and neither we nor names_used/reasons.txt
names_used.py FOLDER --all     also those with a reason

A name is a path that begins with torch, as `torch.nn.functional.relu`, whatever it is called where it is
used: imports are followed, also `import torch.nn as nn` and `from torch.nn import functional as F`.
"""

from __future__ import annotations

import argparse
import ast
import json
import subprocess
import sys
import warnings
import zipfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent / "names_used"
ROOT = "torch"

RESOLVE = """
import importlib, json, sys, warnings
warnings.simplefilter("ignore")
if sys.argv[1] == "taeda":
    import taeda
    taeda.install_as_torch()
def found(path):
    first, *rest = path.split(".")
    at, here = importlib.import_module(first), first
    for part in rest:
        here += "." + part
        try:
            at = getattr(at, part)
        except AttributeError:
            try:
                at = importlib.import_module(here)
            except ImportError:
                return False
        except Exception:
            return False
    return True
print(json.dumps([path for path in json.load(sys.stdin) if found(path)]))
"""


def sources(folder: Path) -> Iterator[tuple[str, str, str]]:
    """(library, file, text) of every Python file in the wheels and archives of a folder."""
    for archive in sorted(folder.glob("*.whl")):
        library = archive.name.partition("-")[0]
        with zipfile.ZipFile(archive) as opened:
            for name in opened.namelist():
                if name.endswith(".py"):
                    yield library, name, opened.read(name).decode("utf-8", "replace")


class Paths(ast.NodeVisitor):
    """Paths below torch that a module names."""

    def __init__(self) -> None:
        self.known: dict[str, str] = {}
        self.found: set[str] = set()

    def visit_Import(self, node: ast.Import) -> None:
        for name in node.names:
            if name.name.split(".")[0] == ROOT:
                self.found.add(name.name)
                self.known[name.asname or ROOT] = name.name if name.asname else ROOT

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if node.level or (node.module or "").split(".")[0] != ROOT:
            return
        for name in node.names:
            path = node.module if name.name == "*" else f"{node.module}.{name.name}"
            self.found.add(path)
            self.known[name.asname or name.name] = path

    def visit_Attribute(self, node: ast.Attribute) -> None:
        path = self._path(node)
        if path is None:
            self.generic_visit(node)
        else:
            self.found.add(path)

    def _path(self, node: ast.expr) -> str | None:
        if isinstance(node, ast.Name):
            return self.known.get(node.id)
        if isinstance(node, ast.Attribute):
            base = self._path(node.value)
            return None if base is None else f"{base}.{node.attr}"
        return None


def paths_of(text: str) -> set[str]:
    """Paths below torch that a source names; none of one that is no Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return set()
    visitor = Paths()
    for _ in range(2):  # names may be used above the import that a function makes
        visitor.visit(tree)
    return visitor.found


def resolved(kind: str, paths: list[str]) -> set[str]:
    """Which of these exist, in an interpreter of their own."""
    done = subprocess.run(
        [sys.executable, "-c", RESOLVE, kind],
        input=json.dumps(paths),
        capture_output=True,
        text=True,
        check=True,
    )
    return set(json.loads(done.stdout.splitlines()[-1]))


def reasons() -> list[tuple[str, str]]:
    """(the beginning of paths, why they do not exist) of the list."""
    found = []
    for line in (HERE / "reasons.txt").read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            prefix, _, why = line.partition(" ")
            found.append((prefix, why.strip()))
    return found


def path_fits(path: str, prefix: str) -> bool:
    """Is the path this one, or below it?"""
    return path == prefix or path.startswith(f"{prefix}.")


def reason_for(path: str, known: list[tuple[str, str]]) -> str:
    """Why a path does not exist; "" if nobody says."""
    fits = [why for prefix, why in known if path_fits(path, prefix)]
    return fits[0] if fits else ""


def get(folder: Path) -> None:
    """Download the libraries, their dependencies not. One without a wheel is named."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in (HERE / "libraries.txt").read_text().split():
        pip = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-deps",
            "--only-binary",
            ":all:",
        ]
        done = subprocess.run([*pip, "-d", str(folder), name], check=False, capture_output=True)
        print(f"{name}: {'there' if not done.returncode else 'no wheel'}", flush=True)


def users_of(folder: Path) -> dict[str, set[str]]:
    """The libraries that name each path."""
    users: dict[str, set[str]] = defaultdict(set)
    for library, _, text in sources(folder):
        if ROOT in text:
            for path in paths_of(text):
                users[path].add(library)
    return users


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--get", action="store_true")
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    if options.get:
        get(options.folder)
    users = users_of(options.folder)
    paths = sorted(users)
    missing = sorted(resolved("torch", paths) - resolved("taeda", paths))
    known, silent = reasons(), 0
    for path in missing:
        why = reason_for(path, known)
        silent += not why
        if options.all or not why:
            print(f"{path}  ({', '.join(sorted(users[path])[:4])})  {why}")
    unused = [prefix for prefix, _ in known if not any(path_fits(path, prefix) for path in missing)]
    if unused:
        print(f"reasons that explain no path of these libraries: {', '.join(unused)}")
    libraries = len(set().union(*users.values())) if users else 0
    print(
        f"{libraries} libraries name {len(paths)} paths; {len(missing)} that PyTorch has are not "
        f"here, {silent} of them without a reason"
    )
    return bool(silent)


if __name__ == "__main__":
    sys.exit(main())
