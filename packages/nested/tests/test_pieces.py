"""Between a batch and its tensors, for autograd."""

from __future__ import annotations

import pytest

import taeda
from taeda.nested._pieces import is_pieces, joined, pieces_of


def test_there_and_back_with_gradients():
    given = [taeda.ones(2, requires_grad=True), taeda.ones(3)]
    x = joined(given)
    assert is_pieces(x) and x.requires_grad
    first, second = pieces_of(x)
    (first * 2).sum().backward()
    assert given[0].grad.tolist() == [2.0, 2.0]
    assert second.tolist() == [1.0] * 3


def test_what_is_no_batch():
    assert not is_pieces(taeda.ones(2))
    with pytest.raises(RuntimeError, match="strided layout"):
        pieces_of(taeda.ones(2))
    for bad in ([], [taeda.ones(1), taeda.ones(1, 1)], [taeda.ones(1), taeda.ones(1).double()]):
        with pytest.raises(RuntimeError, match="wants"):
            joined(bad)
