"""Exchange of tensors, names of objects, what the library says of itself."""

from __future__ import annotations

import weakref

import pytest

import taeda
from taeda import __config__
from taeda.utils import set_module, swap_tensors


class Named(taeda.Tensor):
    """A subclass."""


def test_everything_is_exchanged_but_the_objects():
    a, b = taeda.zeros(2, requires_grad=True), taeda.ones(3, dtype=taeda.float64).as_subclass(Named)
    a.grad, a.note = taeda.full((2,), 5.0), "a"
    first, second = id(a), id(b)
    swap_tensors(a, b)
    assert (id(a), id(b)) == (first, second)
    assert type(a) is Named and type(b) is taeda.Tensor
    assert a.dtype is taeda.float64 and a.tolist() == [1, 1, 1] and a.grad is None
    assert b.requires_grad and b.grad.tolist() == [5, 5] and b.note == "a"
    assert not hasattr(a, "note")
    swap_tensors(a, a)
    assert a.tolist() == [1, 1, 1]


def test_tensors_that_others_refer_to_stay():
    a, b = taeda.zeros(1), taeda.ones(1)
    watch = weakref.ref(b)
    with pytest.raises(RuntimeError, match="swap t2 because it has weakref"):
        swap_tensors(a, b)
    assert watch() is b and a.item() == 0
    leaf = taeda.ones(1, requires_grad=True)
    graph = leaf * 2
    with pytest.raises(RuntimeError, match="live graph"):
        swap_tensors(leaf, a)
    del graph
    swap_tensors(leaf, a)
    with pytest.raises(TypeError, match="t2 must be a Tensor, got int"):
        swap_tensors(a, 3)


def test_set_module():
    def function():
        pass

    set_module(function, "elsewhere")
    assert function.__module__ == "elsewhere"
    with pytest.raises(TypeError, match="should be a string, got int"):
        set_module(function, 3)


def test_what_the_library_says_of_itself():
    text = __config__.show()
    assert taeda.__version__ in text and taeda.backends.cpu.get_cpu_capability() in text
    assert f"get_num_threads() : {taeda.get_num_threads()}" in __config__.parallel_info()


def test_a_tensor_that_others_view_is_not_swapped():
    a, b = taeda.ones(3), taeda.zeros(2)
    v = a[1:]
    for other in (v, b):
        with pytest.raises(RuntimeError, match="swap t1 because other tensors are views of it"):
            swap_tensors(a, other)
        with pytest.raises(RuntimeError, match="swap t2 because other tensors are views of it"):
            swap_tensors(other, a)
    swap_tensors(v, b)  # a view itself may go
    assert b._base is a
    assert v._base is None
    del b, other
    alias = a.data  # on the same memory, but no view
    swap_tensors(a, v)
    assert (a.tolist(), v.tolist(), alias.tolist()) == ([0, 0], [1, 1, 1], [1, 1, 1])
