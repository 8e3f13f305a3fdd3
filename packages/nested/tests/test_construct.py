"""Nested tensors as views of packed values and of padded rows."""

from __future__ import annotations

import pytest
from every_kind import KINDS, refused
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


OFFSETS = taeda.tensor([0, 1, 2])
MADE_OF = {
    "nested_tensor": lambda x: taeda.nested.nested_tensor([x, x]),
    "nested_tensor, jagged": lambda x: taeda.nested.nested_tensor([x], layout=taeda.jagged),
    "as_nested_tensor": lambda x: taeda.nested.as_nested_tensor([x, x]),
    "as_nested_tensor, jagged": lambda x: taeda.nested.as_nested_tensor([x], layout=taeda.jagged),
    "values": lambda x: taeda.nested.nested_tensor_from_jagged(x, OFFSETS),
    "offsets": lambda x: taeda.nested.nested_tensor_from_jagged(taeda.ones(2), x),
    "lengths": lambda x: taeda.nested.nested_tensor_from_jagged(taeda.ones(2), lengths=x),
    "narrow": lambda x: taeda.nested.narrow(x, 1, 0, 1, layout=taeda.jagged),
    "narrow, strided": lambda x: taeda.nested.narrow(x, 1, 0, 1),
    "masked_select": lambda x: taeda.nested.masked_select(x, taeda.ones(2, dtype=taeda.bool)),
    "mask": lambda x: taeda.nested.masked_select(taeda.ones(2, 2), x),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("part", MADE_OF)
def test_parts_are_plain_tensors(part, kind):
    assert "must be a plain tensor, but got a" in refused(MADE_OF[part], kind)


@pytest.mark.parametrize("name", ["nested_tensor", "as_nested_tensor"])
def test_tensors_of_a_jagged_batch_have_one_dtype(name):
    """The fraction of 2.7 would be cut off by the dtype of the first."""
    parts = [taeda.tensor([1]), taeda.tensor([2.7])]
    with pytest.raises(RuntimeError, match=r"must have one dtype, but got .*int64.*give dtype="):
        getattr(taeda.nested, name)(parts, layout=taeda.jagged)
    made = getattr(taeda.nested, name)(parts, layout=taeda.jagged, dtype=taeda.float64)
    assert made.values().dtype is taeda.float64
