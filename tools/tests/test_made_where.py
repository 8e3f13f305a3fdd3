"""Code that computes for tensors of any device names the device of what it makes.

A factory without `device=` makes its tensor on the cpu, or on a default that the program chose: the rule for
writes through views did, and so computed every such gradient of a device there. Numbers (shape `()`) go with
any device.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGES = Path(__file__).parents[2] / "packages"
PLACES = (
    "autograd/src/taeda/autograd",
    "core/src/taeda/_composite",
    "core/src/taeda/_numpy",
    "core/src/taeda/_cuda",
    "compile/src/taeda/compiler/_replay",
    "nn/src/taeda/nn/utils",
)
SHAPED = {"empty", "zeros", "ones", "full", "rand", "randn", "randint"}
FACTORIES = SHAPED | {
    *(
        "arange",
        "empty_strided",
        "eye",
        "linspace",
        "logspace",
        "randperm",
        "tensor",
        "tril_indices",
    ),
    *("triu_indices", "empty_permuted", "scalar_tensor"),
}
#: files whose tensors are the host's, and why
OF_THE_HOST = {
    "autograd/_doctor.py": "a check of the installation",
    "autograd/gradcheck.py": "numbers of differences are compared on the cpu",
    "autograd/variable.py": "an old constructor without arguments",
    "_composite/fake_quantize.py": "one number, read at once",
    "_composite/join.py": "indices, which may lie on the cpu, and an empty result of nothing",
    "utils/clip_grad.py": "the norm of no gradients",
    "utils/rnn.py": "lengths of sequences, which the program reads",
}


def calls(tree: ast.AST) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        named = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        if named and isinstance(node.func.value, ast.Name) and node.func.value.id == "taeda":
            yield node


def homeless(text: str) -> list[str]:
    """Calls of factories that do not say where their tensor lies."""
    found = []
    for call in calls(ast.parse(text)):
        name = call.func.attr
        says = {keyword.arg for keyword in call.keywords} & {"device", "out", None}
        number = name in SHAPED and call.args and ast.unparse(call.args[0]) == "()"
        if name in FACTORIES and not says and not number:
            found.append(f"line {call.lineno}: {ast.unparse(call)}")
    return found


FILES = [path for place in PLACES for path in sorted((PACKAGES / place).rglob("*.py"))]


@pytest.mark.parametrize("path", FILES, ids=lambda path: "/".join(path.parts[-2:]))
def test_a_tensor_is_made_where_it_is_used(path):
    found = homeless(path.read_text())
    known = "/".join(path.parts[-2:]) in OF_THE_HOST
    assert known or not found, "\n".join(found)


def test_every_exception_is_needed():
    kept = {"/".join(path.parts[-2:]) for path in FILES if homeless(path.read_text())}
    assert kept == set(OF_THE_HOST)


def test_what_the_check_sees():
    assert homeless(
        "taeda.empty_strided(a, b, dtype=x)\ntaeda.zeros(3, device=d)\ntaeda.zeros((), dtype=x)"
    ) == ["line 1: taeda.empty_strided(a, b, dtype=x)"]
    assert homeless("taeda.tensor([1])\ntaeda.ones(2, **options)") == ["line 1: taeda.tensor([1])"]
