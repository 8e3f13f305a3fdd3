"""Batching rules by the names of public functions."""

from __future__ import annotations

import operator
import warnings

import pytest

import taeda
from taeda.autograd.batching._registry import Decline, dims_of, key_of, rule, rules
from taeda.func import vmap


@pytest.mark.parametrize(
    ("function", "key"),
    [(taeda.sum, "sum"), (taeda.Tensor.sum, "sum"), (taeda.linalg.norm, "linalg.norm"),
     (taeda.fft.fft, "fft.fft"),
     (taeda.Tensor.__add__, "add"), (taeda.Tensor.__and__, "bitwise_and"),
     (taeda.Tensor.__invert__, "bitwise_not"),
     (taeda.Tensor.__getitem__, "method.getitem"), (taeda.Tensor.__len__, "method.len"),
     (operator.mod, "mod")],
)  # fmt: skip
def test_functions_and_methods_have_one_name(function, key):
    assert key_of(function) == key


def test_attributes_have_a_name_of_their_own():
    assert key_of(taeda.Tensor.mT.__get__) == "get.mT"
    assert key_of(taeda.Tensor.shape.__get__) == "get.shape"


def test_what_has_no_name():
    class Unhashable:
        __hash__ = None

    assert key_of(Unhashable()) == "?"


def test_one_rule_for_several_names():
    @rule("first name", "second name")
    def both(level, func):
        return func

    try:
        assert rules["first name"] is rules["second name"] is both
    finally:
        del rules["first name"], rules["second name"]


def test_every_rule_stands_under_the_name_of_a_function():
    found = {key_of(f) for f in taeda._native.core.functions[""].values()}
    plain = {name for name in rules if "." not in name and not name.endswith("_")}
    assert len(plain & found) > 200


@pytest.mark.parametrize(("dim", "rank", "wanted"), [(0, 3, 0), (-1, 3, 2), (0, 0, 0), (-1, 0, 0)])
def test_dimensions_are_counted_from_the_front(dim, rank, wanted):
    assert dims_of(dim, rank) == wanted


def test_dimensions_that_are_not_there():
    with pytest.raises(IndexError, match=r"range of \[-2, 1\], but got 2"):
        dims_of(2, 2)
    with pytest.raises(Decline):
        dims_of((0,), 2)


def test_an_overload_has_the_rules_of_its_operator():
    """`aten.mul.Tensor` maps as `mul` does, and `aten.add_.Tensor` is known to write."""
    aten, x = taeda.ops.aten, taeda.randn(3, 2)
    rows = [
        (aten.mul.Tensor, lambda f: lambda t: f(t, t), taeda.mul),
        (aten.sum.dim_IntList, lambda f: lambda t: f(t, [0]), taeda.sum),
        (aten.cat.default, lambda f: lambda t: f([t, t]), taeda.cat),
        (aten.linear.default, lambda f: lambda t: f(t, x), taeda.nn.functional.linear),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for overload, call, named in rows:
            assert vmap(call(overload))(x).equal(vmap(call(named))(x))
    shared = taeda.zeros(2)
    with pytest.raises(RuntimeError, match="has more elements than `self`"):
        vmap(lambda t: aten.add_.Tensor(shared, t))(x)
