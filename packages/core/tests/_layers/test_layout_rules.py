"""What rules of every layout share."""

from __future__ import annotations

import pytest
from every_kind import KINDS

import taeda
from taeda._layers.layout_rules import arguments_by_name, dimension, operator, require_plain


def test_a_row_is_called_with_the_arguments_of_its_schema():
    x = taeda.tensor([1.0, 2.0])
    assert operator("add.Tensor")(x, x, alpha=2).tolist() == [3.0, 6.0]
    assert operator("sin")(x).equal(x.sin())
    assert [*arguments_by_name("softmax.int", (x, 0, None))] == ["self", "dim", "dtype"]
    with pytest.raises(ValueError):  # an argument too few would move the others
        arguments_by_name("softmax.int", (x,))


@pytest.mark.parametrize(("dim", "rank", "place"), [(0, 2, 0), (-1, 2, 1), (-2, 2, 0), (-1, 0, 0)])
def test_dimensions_count_from_the_end_too(dim, rank, place):
    assert dimension(dim, rank) == place


@pytest.mark.parametrize(("dim", "rank"), [(2, 2), (-3, 2), (1, 0)])
def test_a_dimension_that_is_none(dim, rank):
    with pytest.raises(IndexError, match=f"got {dim}"):
        dimension(dim, rank)


@pytest.mark.parametrize("kind", KINDS)
def test_parts_are_plain(kind):
    with pytest.raises(
        RuntimeError, match=r"values must be a plain tensor, but got a.*: use its \w+"
    ):
        require_plain("values", KINDS[kind]())


def test_what_is_plain_is_taken():
    for given in (taeda.ones(2), taeda.nn.Parameter(taeda.ones(2)), [1.0], None, 3):
        require_plain("values", given)
