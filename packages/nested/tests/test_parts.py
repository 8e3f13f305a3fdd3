"""What nested tensors are made of: offsets decide which go together."""

from __future__ import annotations

import pytest

import taeda
from taeda import nested


def test_raggedness_goes_by_offsets():
    offsets, values = taeda.tensor([0, 2, 5]), taeda.ones(5, 2)
    a, b = (nested.nested_tensor_from_jagged(values * n, offsets) for n in (1, 2))
    assert a.shape == b.shape
    assert taeda.equal((a + b).values(), values * 3)
    other = nested.nested_tensor_from_jagged(values, offsets.clone())
    with pytest.raises(RuntimeError, match=r"add.Tensor: got the shapes \(2, j"):
        a + other


def test_offsets_written_later_move_nothing():
    offsets = taeda.tensor([0, 2, 5])
    x = nested.nested_tensor_from_jagged(taeda.ones(5, 2), offsets)
    offsets[2] = 1 << 40
    assert [len(piece) for piece in x.unbind()] == [2, 3]
