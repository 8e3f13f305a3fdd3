"""Sums over last dimensions, and parameters whose dimensions mean something."""

import pytest

import taeda
from taeda.distributions._shapes import need_tensors, sum_rightmost


def test_the_last_dimensions_are_summed():
    x = taeda.arange(24.0).reshape(2, 3, 4)
    assert sum_rightmost(x, 0) is x
    assert taeda.equal(sum_rightmost(x, 1), x.sum(-1))
    assert taeda.equal(sum_rightmost(x, 2), x.sum((-1, -2)))
    assert sum_rightmost(1.5, 2) == 1.5


def test_numbers_are_refused_and_what_is_left_out_is_not():
    need_tensors(loc=taeda.zeros(2), scale=None)
    with pytest.raises(TypeError, match=r"scale must be a Tensor.*not float"):
        need_tensors(loc=taeda.zeros(2), scale=1.0)
