"""Parts of the text of a tensor, and the options of printing as attributes."""

from __future__ import annotations

import pytest

import taeda
from taeda._torch_names import private_printing as printing


@pytest.fixture(autouse=True)
def options():
    yield
    taeda.set_printoptions(profile="default")


def test_options_are_attributes():
    assert (printing.options.threshold, printing.options.edgeitems) == (1000, 3)
    taeda.set_printoptions(precision=2)
    assert printing.options.precision == 2
    printing.options.linewidth = 40
    assert printing.options.linewidth == 40 and printing.options.precision == 2
    assert "'linewidth': 40" in repr(printing.options)
    with pytest.raises(AttributeError, match="no option of printing is called 'width'"):
        print(printing.options.width)
    with pytest.raises(AttributeError, match="no option of printing is called 'width'"):
        printing.options.width = 3


def test_numbers_in_brackets():
    x = taeda.arange(4.0, requires_grad=True).reshape(2, 2)
    assert printing.tensor_str(x, 3) == "[[0., 1.],\n    [2., 3.]]"
    assert printing.tensor_str(taeda.ones(0, 2), 0) == "[]"
    long = taeda.arange(9)
    assert printing.tensor_str(long, 0, summarize=True) == "[0, 1, 2,  ..., 6, 7, 8]"
    many = printing.tensor_str(taeda.arange(1001), 0, summarize=False)
    assert "..." not in many and "1000" in many and taeda.arange(1001).__repr__().count("...") == 1


def test_what_stands_around_them():
    x = taeda.ones(2, dtype=taeda.float64)
    assert printing.str_intern(x) == repr(x)
    assert printing.str_intern(x, tensor_contents="here") == "tensor(here, dtype=taeda.float64)"
    assert printing.add_suffixes("Edges([1]", ["a=1", "b=2"], 6, False) == "Edges([1], a=1, b=2)"
    assert (
        printing.add_suffixes("Edges([1]", ["a=1", "b=2"], 6, True) == "Edges([1],\n      a=1, b=2)"
    )
    assert printing.add_suffixes("Edges([1]", [], 6, True) == "Edges([1])"
