"""Ways to put something on the C type: names, documentation, and what a subclass is asked."""

from __future__ import annotations

import pytest

import taeda
from taeda import Tensor
from taeda._tensor._method import explained_method, method, set_property


@pytest.fixture
def name():
    yield "_only_in_this_test"
    del Tensor._only_in_this_test


def test_a_function_becomes_a_method_under_its_own_name(name):
    def _only_in_this_test(self, more):
        return self.numel() + more

    assert method(_only_in_this_test) is _only_in_this_test
    assert taeda.ones(3)._only_in_this_test(4) == 7


def test_an_explained_method_says_where_it_is_documented(name):
    explained_method(name, "taeda", lambda self: self.dim())
    assert taeda.ones(2, 2)._only_in_this_test() == 2
    assert getattr(Tensor, name).__qualname__ == f"Tensor.{name}"
    assert getattr(Tensor, name).__doc__ == f"See `taeda.{name}`."


def test_a_property_asks_a_subclass_that_overrides_functions(name):
    asked = []

    class Asks(Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            asked.append(func)
            return "mine"

    class Plain(Tensor):
        __torch_function__ = taeda._C._disabled_torch_function_impl

    set_property(name, lambda self: self.numel(), "How many.")
    read = vars(Tensor)[name]
    assert read.__doc__ == "How many."
    assert taeda.ones(3)._only_in_this_test == 3
    assert taeda.ones(3).as_subclass(Plain)._only_in_this_test == 3
    assert asked == []
    assert taeda.ones(3).as_subclass(Asks)._only_in_this_test == "mine"
    assert asked == [read.__get__]


def test_a_property_cannot_be_written(name):
    set_property(name, lambda self: 1, "One.")
    with pytest.raises(AttributeError):
        taeda.ones(1)._only_in_this_test = 2
