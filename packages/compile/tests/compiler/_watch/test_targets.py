"""Assignments to several targets, taken apart."""

from __future__ import annotations

import ast

import pytest

from taeda.compiler._watch.targets import apart


class Held:
    """Keeps what is stored."""


def _tell(method, *args):
    return args[0]


def _store(target, value):
    if isinstance(target, ast.Name):
        return None
    if isinstance(target, ast.Attribute):
        parts = [target.value, ast.Constant(target.attr), value]
        return ast.Call(ast.Name("setattr", ast.Load()), parts, [])
    method = ast.Attribute(target.value, "__setitem__", ast.Load())
    return ast.Call(method, [target.slice, value], [])


def _state(code, held):
    space = {"h": held, "a": [0, 0, 0], "n": 1}
    exec(code, space)
    return space["a"], space["n"], vars(held), space.get("x")


@pytest.mark.parametrize(
    "text",
    [
        "x, h.k = 1, 2",
        "n, a[n] = 0, 7",
        "a[n], n = 5, 2",
        "x = h.k = 3",
        "x, *h.rest = 1, 2, 3",
        "*a[0:2], h.k = 1, 2, 3",
        "[h.k, x] = a[0], h.j = 1, 2",
    ],
)
def test_the_same_is_stored_in_the_same_order(text):
    tree = ast.parse(text)
    (node,) = tree.body
    made = apart(node, node.value, _store, _tell)
    tree.body = [ast.copy_location(made, node)]
    code = compile(ast.fix_missing_locations(tree), "<test>", "exec")
    assert _state(code, Held()) == _state(compile(text, "<text>", "exec"), Held())


@pytest.mark.parametrize("text", ["x = 1", "x, n = 1, 2", "x, (n, h.k) = 1, (2, 3)"])
def test_variables_alone_and_nested_tuples_are_left(text):
    (node,) = ast.parse(text).body
    assert apart(node, node.value, _store, _tell) is None
