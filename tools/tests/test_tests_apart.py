"""What tests reach of siblings while they are collected."""

from __future__ import annotations

import by_path
import pytest

tests_apart = by_path.load("tools/hold/tests_apart.py")
workspace = by_path.load("tools/packages.py")

EARLY = {
    "import taeda.nn.functional as F": "taeda.nn.functional",
    "from taeda import nn": "taeda.nn",
    "CASES = [taeda.optim.SGD]": "taeda.optim",
    "@pytest.mark.parametrize('f', [taeda.nn.relu])\ndef test(f): ...": "taeda.nn",
    "class Own(taeda.nn.Module): ...": "taeda.nn",
    "f = lambda x=taeda.nn: x": "taeda.nn",
}
LATE = [
    "def test():\n    from taeda import nn",
    "CASES = [lambda: taeda.optim.SGD]",
    "def table() -> taeda.nn.Embedding: ...",
    "nn = pytest.importorskip('taeda.nn')\nfrom taeda import nn",
    "try:\n    import taeda.nn\nexcept ImportError:\n    pass",
]


@pytest.mark.parametrize("text", EARLY)
def test_what_runs_with_the_module_is_early(text):
    assert EARLY[text] in [name for _, name in tests_apart.early(text)]


@pytest.mark.parametrize("text", LATE)
def test_what_runs_with_a_test_is_not(text):
    assert not [*tests_apart.early(text)]


def test_the_packages_collect_their_tests_alone():
    assert tests_apart.check(workspace.load().values()) == []


def test_a_sibling_that_is_not_declared_is_told(tmp_path, monkeypatch):
    known = workspace.load()
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_x.py").write_text("from taeda import nn\n")
    monkeypatch.setattr(tests_apart.layers, "owners", lambda _: lambda name: f"owner of {name}")
    core = type(known["taeda-core"])
    own = object.__new__(core)
    for field, value in vars(known["taeda-core"]).items():
        object.__setattr__(own, field, value)
    object.__setattr__(own, "folder", tmp_path)
    (fault,) = tests_apart.check([own])
    assert fault.startswith("taeda-core does not declare owner of taeda.nn, but tests/test_x.py:1")
