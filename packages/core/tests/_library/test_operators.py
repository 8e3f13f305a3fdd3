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
