"""The stubs name what exists, and all that exists."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import taeda
from taeda._build import stubs
from taeda._parts import DISTRIBUTIONS
from taeda._table._row import TABLE, op

HOME = Path(taeda.__file__).parent
# Brought by siblings, which need not be installed here.
ELSEWHERE = {name for name in DISTRIBUTIONS if "." not in name} | {
    name for name, place in taeda._EXPORTS.items() if place.partition(".")[0] in DISTRIBUTIONS
}
SCAFFOLD = {"annotations", "extend_path", "install_hint", "lazy_attributes"}
PRIVATE_TO_STUBS = {"Number", "Device", "builtins"}


def names(body, hidden=False):
    """Names, public or all, that a class or module body binds, and the classes among them."""
    found = set()
    for node in body:
        match node:
            case (
                ast.FunctionDef(name=name)
                | ast.ClassDef(name=name)
                | ast.AnnAssign(target=ast.Name(id=name))
            ):
                found.add(name)
            case ast.ImportFrom(module=module, names=aliases) if module and module.startswith(
                "taeda"
            ):
                found |= {alias.asname or alias.name for alias in aliases}
    return {name for name in found if hidden or not name.startswith("_")}


@pytest.fixture(scope="module")
def tree():
    return ast.parse((HOME / "__init__.pyi").read_text())


@pytest.fixture(scope="module")
def tensor(tree):
    return next(n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == "Tensor")


def test_every_name_of_the_stub_exists(tree):
    missing = {name for name in names(tree.body) if not hasattr(taeda, name)}
    assert missing - ELSEWHERE - PRIVATE_TO_STUBS == set()


def test_every_public_name_is_in_the_stub(tree):
    public = {name for name in dir(taeda) if not name.startswith("_")}
    assert public - names(tree.body) - SCAFFOLD == set()


def test_every_name_of_the_stubbed_tensor_exists(tensor):
    missing = {name for name in names(tensor.body) if not hasattr(taeda.Tensor, name)}
    assert missing == set()


def test_every_public_name_of_tensor_is_in_the_stub(tensor):
    public = {
        name
        for name in dir(taeda.Tensor)
        if not name.startswith("_") and hasattr(taeda.Tensor, name)
    }
    assert public - names(tensor.body) == set()


def test_the_compiled_module_is_typed():
    text = (HOME / "_native/core.pyi").read_text()
    typed = {name for name in names(ast.parse(text).body, hidden=True) if not name.startswith("__")}
    found = {name for name in dir(taeda._native.core) if not name.startswith("__")}
    assert typed == found


SIGNATURES = [
    ("f(Tensor self, Scalar b=1) -> Tensor", {}, "def f(input: Tensor, b: Number = ...) -> Tensor: ..."),
    ("f(int[] size, *, ScalarType? dtype=None) -> Tensor", {},
        "def f(*size: builtins.int, dtype: _dtype | None = ...) -> Tensor: ..."),
    ("f(Tensor? a, int[2] b) -> Tensor[]", {},
        "def f(a: Tensor | None, b: Sequence[builtins.int] | builtins.int) -> list[Tensor]: ..."),
    ("f(Tensor self, Tensor b) -> (Tensor values, Tensor indices)", {"numbers": "b"},
        "def f(input: Tensor, b: Tensor | Number) -> _f_values_indices: ..."),
    ("f(Tensor self) -> Tensor", {"variants": "function out"},
        "def f(input: Tensor, *, out: Tensor | None = None) -> Tensor: ..."),
]  # fmt: skip


@pytest.mark.parametrize(
    ("schema", "more", "line"), SIGNATURES, ids=[case[0] for case in SIGNATURES]
)
def test_a_schema_becomes_a_signature(tmp_path, schema, more, line):
    (tmp_path / "_build").mkdir()
    (tmp_path / "_build/taeda.pyi.in").write_text(
        "class Tensor:\n    shape: Size\n{methods}\n{results}\n{functions}"
    )
    count = len(TABLE)
    try:
        op(schema, composite=True, doc="For this test.", **{"variants": "function", **more})
        (path,) = stubs.write(TABLE[count:], tmp_path)
    finally:
        del TABLE[count:]
    text = path.read_text()
    ast.parse(text)
    assert line in text
