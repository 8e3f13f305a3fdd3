"""What a call of its own refuses is refused in a map, and the results of both have one type."""

from __future__ import annotations

import pytest
from vmap_of_rows import FAMILIES
from vmap_refusals import check_refusals

import taeda
from taeda.func import vmap


@pytest.mark.parametrize("family", FAMILIES)
def test_every_row_refuses_in_a_map_what_it_refuses_alone(family):
    check_refusals(family)


def test_an_index_of_one_sample_reads_no_row_of_the_next():
    tables, places = taeda.arange(12.0).reshape(2, 3, 2), taeda.tensor([[0, 3], [1, 0]])
    with pytest.raises((IndexError, RuntimeError), match="out of"):
        vmap(taeda.nn.functional.embedding)(places, tables)
    with pytest.raises((IndexError, RuntimeError), match="out of"):
        vmap(lambda t, i: t.index_select(0, i))(tables, places - 1)


def test_a_scalar_has_no_dimension_that_the_map_would_lend():
    with pytest.raises(IndexError):
        vmap(lambda x: x.squeeze(1))(taeda.ones(3))
    with pytest.raises(RuntimeError):
        vmap(lambda x: taeda.nn.functional.layer_norm(x, (3,)))(taeda.ones(3))


def test_a_view_that_cannot_be_is_no_copy():
    with pytest.raises(RuntimeError, match="view"):
        vmap(lambda x, y: x.view_as(y))(taeda.ones(3, 4, 2).mT, taeda.ones(3, 8))


def test_named_results_stay_named():
    found = vmap(lambda a, b: taeda.linalg.lstsq(a, b).solution)(
        taeda.randn(3, 4, 2), taeda.randn(3, 4, 1)
    )
    assert found.shape == (3, 2, 1)
