"""The table of decompositions: what it has, and what is deleted before it is read."""

from __future__ import annotations

import pytest

import taeda
from taeda.export import default_decompositions
from taeda.export.decomp_utils import CustomDecompTable

CONV = taeda.ops.aten.conv2d.default


def test_it_has_operators_that_are_made_of_others_and_no_rows():
    table = default_decompositions()
    assert isinstance(table, CustomDecompTable)
    assert CONV in table and taeda.ops.aten.linalg_cond.default in table
    assert (
        taeda.ops.aten.convolution.default not in table and taeda.ops.aten.add.Tensor not in table
    )
    assert len(table) == len(list(table)) == len(table.keys()) == len(table.items()) > 300
    assert table[CONV] is CONV and table.get(CONV) is CONV and CONV in list(reversed(table))
    assert table == default_decompositions() and len(table.values()) == len(table)


@pytest.mark.parametrize("read_before", [False, True])
def test_what_is_set_and_deleted_holds(read_before):
    table = CustomDecompTable()
    if read_before:
        assert CONV in table
    mine = taeda.relu
    table[CONV] = mine
    table.update({taeda.ops.aten.relu.default: mine})
    del table[taeda.ops.aten.conv1d.default]
    twin = table.copy()
    assert type(twin) is CustomDecompTable
    table.pop(CONV)
    assert CONV not in table and twin[CONV] is mine and taeda.ops.aten.relu.default in twin
    made = twin.materialize()
    assert type(made) is dict and made[CONV] is mine
    assert taeda.ops.aten.conv1d.default not in made


def test_what_it_has_not():
    table = CustomDecompTable()
    with pytest.raises(KeyError):
        del table[taeda.ops.aten.add.Tensor]
    assert table.pop(taeda.ops.aten.add.Tensor, None) is None
