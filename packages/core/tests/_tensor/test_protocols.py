"""What Python's own functions and operators ask of a tensor."""

from __future__ import annotations

import pytest

import taeda
from taeda import Tensor


def test_texts():
    assert repr(taeda.tensor([1, 2])) == "tensor([1, 2])"
    assert f"{taeda.tensor(2.5):.2f}" == "2.50"
    assert f"{taeda.tensor(7):03d}" == "007"
    assert f"{taeda.tensor([1])}" == "tensor([1])"
    assert "meta" in f"{taeda.ones((), device='meta')}"
    with pytest.raises(TypeError, match="format"):
        f"{taeda.tensor([1]):.2f}"


def test_rows_one_by_one():
    assert [row.tolist() for row in taeda.arange(4).reshape(2, 2)] == [[0, 1], [2, 3]]
    assert list(taeda.empty(0, 3)) == []
    with pytest.raises(TypeError, match="iteration over a 0-d tensor"):
        iter(taeda.tensor(1))


def test_contains_asks_for_equal_elements():
    x = taeda.tensor([1.0, 2.0])
    assert 2 in x and 3.0 not in x and taeda.tensor(1.0) in x and (1 + 0j) in x
    with pytest.raises(
        RuntimeError, match="only supports Tensor or scalar, but you passed in a <class 'str'>"
    ):
        _ = "a" in x


def test_numbers():
    assert complex(taeda.tensor(1 + 2j)) == 1 + 2j
    assert complex(taeda.tensor(3)) == 3
    assert taeda.tensor([4.0]).__rdiv__(2).tolist() == [0.5]


def test_reversed_flips_the_first_dimension():
    x = taeda.arange(4).reshape(2, 2)
    assert reversed(x).tolist() == [[2, 3], [0, 1]]
    assert reversed(taeda.tensor(5)).item() == 5


def test_dir_lists_attributes_and_nothing_absent():
    x = taeda.ones(1)
    x.note = 1
    names = dir(x)
    assert "note" in names and "sum" in names and names == sorted(names)
    for name in names:
        getattr(type(x), name, None)
    assert not [name for name in names if name != "note" and not hasattr(Tensor, name)]


def test_a_notebook_gets_html():
    assert taeda.ones(2)._repr_html_().lstrip().startswith("<")


def test_the_default_of_torch_function_gives_the_subclass():
    class Mine(Tensor):
        pass

    x = taeda.ones(2).as_subclass(Mine)
    made = Tensor.__torch_function__.__func__(Mine, taeda.add, (Mine,), (x, 1), None)
    assert type(made) is Mine and made.tolist() == [2, 2]
