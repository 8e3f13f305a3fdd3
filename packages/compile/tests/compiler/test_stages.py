"""The folders of `compiler` are stages, and a stage imports only from earlier ones, functions included."""

from __future__ import annotations

import ast
import pathlib

import pytest

from taeda import compiler

ROOT = pathlib.Path(compiler.__file__).parent
STAGES = ["", "_kernels", "_graph", "_control", "_watch", "_replay", "_call", "_api"]
MODULES = [p for p in sorted(ROOT.rglob("*.py")) if p.parent != ROOT or p.name != "__init__.py"]


def imported(path):
    """The parts of the names that a module imports from its own package, in functions as well."""
    folder = path.relative_to(ROOT).parts[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = folder[: len(folder) - node.level + 1]
            yield (*base, *(node.module.split(".") if node.module else [node.names[0].name]))


def stage(parts):
    return STAGES.index(parts[0] if parts[0] in STAGES else "")


@pytest.mark.parametrize("path", MODULES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_a_stage_imports_from_earlier_ones(path):
    own = stage(path.relative_to(ROOT).parts)
    assert [parts for parts in imported(path) if stage(parts) > own] == []


def test_every_folder_is_a_stage():
    assert {p.name for p in ROOT.iterdir() if (p / "__init__.py").exists()} == set(STAGES[1:])
