"""Libraries that define and implement operators."""

from __future__ import annotations

import gc

import pytest

import taeda
from taeda import library

Library, custom_op = library.Library, library.custom_op


def library_of(name):
    from taeda._library.low_level import scoped_library

    return scoped_library(name, "FRAGMENT")


def test_a_library_defines_and_implements():
    lib = Library("tl1", "DEF")
    assert lib.define("f(Tensor x) -> Tensor") == "f"
    assert lib.define("f.twice(Tensor x, int n) -> Tensor") == "f.twice"
    with pytest.raises(
        NotImplementedError, match=r"tl1::f: no kernel is registered for device 'cpu'"
    ):
        taeda.ops.tl1.f(taeda.ones(1))
    lib.impl("f", lambda x: x + 1, "CPU")
    lib.impl(taeda.ops.tl1.f.twice, lambda x, n: x * n, "CPU")
    assert taeda.ops.tl1.f(taeda.ones(1)).item() == 2
    assert taeda.ops.tl1.f(taeda.ones(1), 5).item() == 5
    assert taeda.ops.tl1.f.overloads() == ["default", "twice"]
    with pytest.raises(RuntimeError, match="multiple times"):
        lib.define("f(Tensor x) -> Tensor")
    with pytest.warns(
        UserWarning, match="Overriding a previously registered kernel of tl1::f for CPU"
    ):
        lib.impl("f", lambda x: x + 2, "CPU")
    assert taeda.ops.tl1.f(taeda.ones(1)).item() == 3
    with pytest.raises(RuntimeError, match="Only a single library of kind 'DEF'"):
        Library("tl1", "DEF")
    fragment = Library("tl1", "FRAGMENT")
    fragment.define("g(Tensor x) -> Tensor")
    del fragment
    gc.collect()
    with pytest.raises(AttributeError):
        taeda.ops.tl1.g
    lib._destroy()
    with pytest.raises(AttributeError):
        taeda.ops.tl1.f
    Library("tl1", "DEF")._destroy()


def test_a_library_says_what_it_does_not_take():
    with library_of("tl2") as lib:
        for call, kind, message in [
            (lambda: Library("tl2", "FOO"), ValueError, "Unsupported kind"),
            (lambda: Library("prim", "DEF"), ValueError, "reserved namespace"),
            (lambda: Library("aten", "DEF"), RuntimeError, "namespace aten"),
            (lambda: lib.define("f(Tensr x) -> Tensor"), RuntimeError, "Tensr"),
            (lambda: lib.define("f(Tensor x) -> Tensor", "ODD"), RuntimeError, "alias_analysis"),
            (lambda: lib.impl("f", 3, "CPU"), TypeError, "callable"),
            (lambda: lib.impl("f", len, "ODD"), RuntimeError, "could not parse dispatch key"),
            (lambda: lib.impl("f", len, "Autograd"), NotImplementedError, "register_autograd"),
            (lambda: lib.impl(3, len, "CPU"), RuntimeError, "name or an OpOverload"),
            (lambda: lib.impl("f", len, "CPU", with_keyset=True), NotImplementedError, "key set"),
            (lambda: lib.fallback(len, "CPU"), RuntimeError, "global namespace"),
            (lambda: Library("tl2", "IMPL").define("f(Tensor x) -> Tensor"), RuntimeError, "IMPL"),
        ]:
            with pytest.raises(kind, match=message):
                call()


def test_a_built_in_operator_gets_another_kernel():
    with library_of("aten") as lib:
        lib.impl("relu", lambda x: x * 0 + 7, "CPU")
        assert taeda.relu(taeda.ones(2)).tolist() == [7.0, 7.0]
        assert taeda.relu(taeda.ones(2, device="meta")).shape == (2,)
    assert taeda.relu(taeda.ones(2)).tolist() == [1.0, 1.0]


def test_a_fallback_serves_operators_without_a_kernel():
    with library_of("_") as every, library_of("tl5") as lib:
        lib.define("f(Tensor x) -> Tensor")
        lib.define("g(Tensor x) -> Tensor")
        lib.impl("g", lambda x: x + 1, "CPU")
        every.fallback(lambda op, *args: args[0] * 0 - 1, "CPU")
        assert taeda.ops.tl5.f(taeda.ones(1)).item() == -1
        assert taeda.ops.tl5.g(taeda.ones(1)).item() == 2
        every._destroy()
        with pytest.raises(NotImplementedError):
            taeda.ops.tl5.f(taeda.ones(1))


def test_function_for_autocast_runs_in_place_of_the_operator():
    lib = Library("autocast_keys", "FRAGMENT")
    lib.define("twice(Tensor x, Tensor[] more) -> Tensor")
    lib.impl("twice", lambda x, more: x * 2, "CPU")
    asked = []

    def lower(x, more):
        asked.append(x.dtype)
        return taeda.ops.autocast_keys.twice(x.half(), more)

    for key in ("AutocastCPU", "AutocastXPU"):
        lib.impl("twice", lower, key)
    twice, x = taeda.ops.autocast_keys.twice, taeda.ones(1)
    assert twice(x, [x]).dtype is taeda.float32
    with taeda.autocast("cpu"):
        assert twice(x, [x]).dtype is taeda.float16
    assert asked == [taeda.float32]
    assert twice(x, [x]).dtype is taeda.float32
