"""Finding the text of a function in its file."""

from __future__ import annotations

import ast
import types

import pytest

import taeda
from taeda.compiler._errors import CannotCopy
from taeda.compiler._watch.rewrite import _functions_at, copy_of

SOURCE = """
import functools

def plain(x): return lambda y: y

@functools.lru_cache(
    maxsize=None
)
@functools.wraps(lambda: 1)
def decorated(x, k=lambda: 2):
    if x:
        with x as (y, z):
            def inner(a):
                match a:
                    case [b] if (lambda: b)():
                        return [c for c in a if (lambda: c)()]
            return inner
    return x

class Outer:
    class Inner:
        def method(self): return super().method()
        table = {1: lambda: 3, 2: lambda: 4}
    @property
    async def waits(self): return 1

try:
    both = (lambda: 5, lambda: 6)
finally:
    def last(): pass
"""


def every(tree):
    """(line of the code, node), by walking through all of it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            decorators = getattr(node, "decorator_list", [])
            yield min([node.lineno, *(d.lineno for d in decorators)]), node


def test_all_functions_that_begin_in_a_line_are_found_there():
    tree = ast.parse(SOURCE)
    expected = list(every(tree))
    for line in range(1, SOURCE.count("\n") + 2):
        found = {id(node) for node in _functions_at(tree, line)}
        assert found == {id(node) for at, node in expected if at == line}
    assert len(expected) == 14


def codes(code):
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from codes(constant)


def test_each_function_of_a_file_has_its_copy(tmp_path):
    path = tmp_path / "functions.py"
    path.write_text(SOURCE)
    refused = []
    for code in codes(compile(SOURCE, str(path), "exec")):
        if code.co_name in ("Outer", "Inner", "<listcomp>"):
            continue
        try:
            copied = copy_of(code)
        except CannotCopy as why:
            refused.append((code.co_name, str(why).partition(" in line")[0]))
        else:
            assert copied.co_name == code.co_name
            assert copied.co_firstlineno in (code.co_firstlineno, code.co_firstlineno + 4)
    assert refused == [
        ("decorated", "a match statement"), ("inner", "a match statement"),
        ("waits", "it is asynchronous"),
    ]  # fmt: skip


RECURSIVE = """
def calls_itself(n): return n and calls_itself(n - 1)

def calls_another(n): return calls_itself(n) + (lambda m: calls_another(m))(0)

class Owner:
    def method(self, n): return method(n)

def around():
    def inner(n): return n and inner(n - 1)
    def of_global(n): return n and around()(n)
    return inner, of_global
"""


def test_a_name_of_its_own_is_the_global_or_the_variable_that_it_was(tmp_path):
    path = tmp_path / "recursive.py"
    path.write_text(RECURSIVE)
    for code in codes(compile(RECURSIVE, str(path), "exec")):
        if code.co_name not in ("Owner", "<lambda>"):
            copied = copy_of(code)
            assert set(copied.co_freevars) == {*code.co_freevars, "__observer__"}


def test_equal_functions_of_two_files_keep_theirs(tmp_path):
    for name in ("one.py", "other.py"):
        path = tmp_path / name
        path.write_text("def f(x):\n    return x + 1\n")
        (code,) = codes(compile(path.read_text(), str(path), "exec"))
        assert copy_of(code).co_filename == str(path)


def test_a_source_that_is_another_one_is_refused(tmp_path):
    path = tmp_path / "changed.py"
    path.write_text("def f(x):\n    return x + 1\n")
    (code,) = codes(compile("def f(x):\n    return x + 2\n", str(path), "exec"))
    with pytest.raises(CannotCopy, match="not that of the code"):
        copy_of(code)


class Held:
    """Keeps what is stored."""


def _pair(x, held):
    y, held.k = x * 2, 3
    return y + held.k


def _items(x, held):
    found = [0, 0]
    found[1], held.rest, *found[0:1] = x, 2, 5
    return found[1] * held.rest + found[0]


def _chain(x, held):
    y = held.z = x + 1
    return y * held.z


def _order(x, held):
    a = [0, 0]
    n = 1
    n, a[n] = 0, 7  # the second target is looked at behind the first store
    return x + a[0] * 10 + a[1] + n


def _star(x, held):
    held.first, *held.others = (x, x * 2, x * 3)
    return held.first + held.others[1]


@pytest.mark.parametrize("f", [_pair, _items, _chain, _order, _star])
def test_stores_to_attributes_and_items_among_others_are_copied(f):
    def program(x):
        return f(x, Held())

    fast = taeda.compile(program, fullgraph=True)
    for n in range(4):
        x = taeda.ones(2) * n
        assert fast(x).tolist() == program(x).tolist()
