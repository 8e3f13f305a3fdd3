"""Operators of one's own, without derivatives (those are in autograd's tests)."""

from __future__ import annotations

import inspect

import pytest

import taeda
from taeda import library
from taeda._library import table
from taeda._library.low_level import scoped_library


@pytest.mark.parametrize(
    "refused",
    [
        lambda: library.triton_op("tlib::kernel", mutates_args=()),
        lambda: library.triton_op("tlib::kernel", abs, mutates_args={"out"}),
        lambda: library.wrap_triton(abs),
        lambda: library.capture_triton(abs),
    ],
)
def test_triton_is_refused_with_what_serves_instead(refused):
    with pytest.raises(NotImplementedError, match=r"no kernels of Triton.*custom_op"):
        refused()


def half(x):
    return x / 2


#: what each function of the module that takes `lib` registers
REGISTERED = {
    "impl": lambda lib: library.impl("tlib_end::f", "cpu", half, lib=lib),
    "impl_abstract": lambda lib: library.impl_abstract("tlib_end::f", half, lib=lib),
    "register_autocast": lambda lib: library.register_autocast(
        "tlib_end::f", "cpu", taeda.float16, lib=lib
    ),
    "register_autograd": lambda lib: library.register_autograd("tlib_end::f", half, lib=lib),
    "register_fake": lambda lib: library.register_fake("tlib_end::f", half, lib=lib),
    "register_kernel": lambda lib: library.register_kernel("tlib_end::f", "cpu", half, lib=lib),
    "register_torch_dispatch": lambda lib: library.register_torch_dispatch(
        "tlib_end::f", type("Mode", (), {}), half, lib=lib
    ),
    "register_vmap": lambda lib: library.register_vmap("tlib_end::f", half, lib=lib),
}


def test_every_function_that_takes_a_library_is_listed():
    public = (getattr(library, name) for name in library.__all__)
    takes = {
        made.__name__
        for made in public
        if inspect.isfunction(made) and "lib" in inspect.signature(made).parameters
    }
    assert takes == {*REGISTERED, "define"}


@pytest.mark.filterwarnings("ignore:library.impl_abstract:FutureWarning")
@pytest.mark.parametrize("name", REGISTERED)
def test_what_is_registered_with_a_library_goes_with_it(name):
    def state():
        entry = table.entry("tlib_end::f")
        return dict(entry.kernels), dict(entry.rules)

    with scoped_library("tlib_end", "DEF") as keeps:
        keeps.define("f(Tensor x) -> Tensor")
        before = state()
        with scoped_library("tlib_end", "FRAGMENT") as lib:
            REGISTERED[name](lib)
            assert state() != before
        assert state() == before
        REGISTERED[name](keeps)  # nothing of the first is in its way


def test_a_library_takes_no_rule_away_that_came_after_its_own():
    with scoped_library("tlib_later", "DEF") as keeps:
        keeps.define("f(Tensor x) -> Tensor")
        with scoped_library("tlib_later", "FRAGMENT") as lib:
            library.register_vmap("tlib_later::f", half, lib=lib)
            library.register_vmap("tlib_later::f", abs, lib=keeps)
        assert table.rule_of("tlib_later::f", "vmap") is abs
