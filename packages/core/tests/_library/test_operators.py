"""Operators by namespace, and the decorators that make them."""

from __future__ import annotations

import pytest

import taeda
from taeda import library


def library_of(name):
    from taeda._library.low_level import scoped_library

    return scoped_library(name, "FRAGMENT")


def test_what_does_not_exist():
    with pytest.raises(
        AttributeError, match="'_OpNamespace' 'tlib' object has no attribute 'nothing'"
    ):
        taeda.ops.tlib.nothing
    with pytest.raises(AttributeError, match="no overload named 'nothing'"):
        taeda.ops.aten.add.nothing
    with pytest.raises(AttributeError):
        library.register_autograd("tlib::nothing", lambda ctx, g: g)


def test_decorators():
    with library_of("tl4") as lib:

        @library.define(lib, "f(Tensor x) -> Tensor")
        def _(x):
            return x + 1

        lib.define("g(Tensor x) -> Tensor")

        @library.impl(lib, "g", "CPU")
        def _(x):
            return x + 2

        library.define("tl4::h", "(Tensor x) -> Tensor", lib=lib, tags=taeda.Tag.pointwise)

        @library.impl("tl4::h", ("cpu", "meta"), lib=lib)
        def _(x):
            return x + 3

        x = taeda.zeros(1)
        made = [taeda.ops.tl4.f(x), taeda.ops.tl4.g(x), taeda.ops.tl4.h(x)]
        assert [t.item() for t in made] == [1, 2, 3]
        assert taeda.ops.tl4.h(taeda.zeros(2, device="meta")).shape == (2,)
        assert taeda.ops.tl4.h.default.tags == [taeda.Tag.pointwise]


@pytest.mark.parametrize(
    ("kind", "given", "seen"),
    [
        ("int", True, 1),
        ("int", False, 0),
        ("bool", 1, True),
        ("bool", 0, False),
        ("bool", -3, True),
        ("int[]", [2, True], [2, 1]),
        ("bool[2]", [0, True], [False, True]),
    ],
)
def test_a_bool_is_taken_for_an_int_and_an_int_for_a_bool(kind, given, seen):
    got = []
    with library_of("swaps") as lib:
        lib.define(f"swap(Tensor x, {kind} n) -> Tensor")
        lib.impl("swap", lambda x, n: (got.append(n), x + 0)[1], "CPU")
        taeda.ops.swaps.swap(taeda.ones(1), given)
        taeda.ops.swaps.swap(taeda.ones(1), n=given)
    plain = [list(one) if isinstance(one, (list, tuple)) else one for one in got]
    assert plain == [seen, seen]
    kinds = {
        type(one) for answer in plain for one in (answer if isinstance(seen, list) else [answer])
    }
    assert kinds == {int if kind.startswith("int") else bool}


@pytest.mark.parametrize(
    ("kind", "given", "said"),
    [
        ("int", 1.0, "must be int, not float"),
        ("bool", 1.0, "must be bool, not float"),
        ("int[]", [True, 1.5], "its entry 1 is float"),
        ("bool[2]", [1, "a"], "its entry 1 is str"),
    ],
)
def test_other_kinds_of_numbers_are_named(kind, given, said):
    with library_of("swaps") as lib:
        lib.define(f"other(Tensor x, {kind} n) -> Tensor")
        with pytest.raises(TypeError, match=said):
            taeda.ops.swaps.other(taeda.ones(1), given)


def test_rows_of_the_table_keep_the_two_apart():
    with pytest.raises(TypeError, match="must be int, not bool"):
        taeda.ones(2, 3).select(True, 0)
    with pytest.raises(TypeError, match="must be bool, not int"):
        taeda.ones(3).topk(1, 0, 1)
