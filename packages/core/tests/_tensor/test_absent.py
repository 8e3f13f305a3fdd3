"""Attributes that PyTorch's Tensor has and ours has not."""

from __future__ import annotations

import pytest

import taeda
from taeda._tensor.absent import ABSENT


@pytest.mark.parametrize("name", sorted(ABSENT))
def test_it_is_not_there_and_says_what_to_do(name):
    x = taeda.ones(1)
    assert not hasattr(x, name) and name not in dir(x)
    with pytest.raises(AttributeError, match=rf"taeda\.Tensor\.{name}") as caught:
        getattr(x, name)
    assert caught.value.name == name and len(str(caught.value)) > len(name) + 20
    assert repr(vars(taeda.Tensor)[name]) == f"<{name}: absent>"


def test_a_program_may_set_it():
    x = taeda.ones(1)
    x.names = ("a",)
    assert x.names == ("a",) and "names" in dir(x)
