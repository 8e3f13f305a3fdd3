"""Nested tensors as views of packed values and of padded rows."""

from __future__ import annotations

import pytest
from ragged import equal_pieces

import taeda
from taeda import nested


def test_views_of_values_and_of_rows():
    values = taeda.arange(12.0).reshape(6, 2)
    x = nested.nested_tensor_from_jagged(
        values, taeda.tensor([0, 2, 3, 6]), taeda.tensor([1, 1, 2])
    )
    assert not x.is_contiguous() and x.lengths().tolist() == [1, 1, 2]
    equal_pieces(x, [values[0:1], values[2:3], values[3:5]])
    x.unbind()[0].mul_(10)
    assert values[0].tolist() == [0.0, 10.0]
    padded = taeda.arange(12.0).reshape(3, 4)
    y = nested.narrow(padded, 1, taeda.tensor([0, 1, 2]), taeda.tensor([2, 3, 0]), taeda.jagged)
    equal_pieces(y, [padded[0, :2], padded[1, 1:4], padded[2, 2:2]])
    assert not y.is_contiguous() and y.contiguous().is_contiguous()
    equal_pieces(y.contiguous(), list(y.unbind()))
    equal_pieces(y * 2, [piece * 2 for piece in y.unbind()])
    z = nested.masked_select(padded, padded % 3 == 0)
    equal_pieces(z, [row[row % 3 == 0] for row in padded])


@pytest.mark.parametrize("layout", [taeda.strided, taeda.jagged], ids=str)
def test_parts_begin_at_integers(layout):
    x = taeda.ones(3, 4)
    for wrong in (0.5, "1", None, taeda.tensor([0.5, 1, 0]), taeda.tensor([True, False, True])):
        for given in ((wrong, 1), (1, wrong)):
            with pytest.raises(TypeError, match=r"integer"):
                nested.narrow(x, 1, *given, layout=layout)
