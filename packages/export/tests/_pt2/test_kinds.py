"""Tables of the format."""

from __future__ import annotations

import pytest

import taeda
from taeda.export._pt2._kinds import (
    DTYPES,
    FORMATS,
    NUMBER_FIRST,
    NUMBERS,
    OTHER_NAMES,
    SCALARS,
    TENSORS,
    name_of,
    public_name,
)


def test_tables_go_both_ways():
    for table in (DTYPES, FORMATS, NUMBERS, SCALARS, NUMBER_FIRST, OTHER_NAMES):
        assert len(set(table.values())) == len(table)
    for table in (SCALARS, NUMBER_FIRST, OTHER_NAMES):
        assert {TENSORS[s] for s in table.values()} == set(table)


@pytest.mark.parametrize("table", [SCALARS, NUMBER_FIRST, OTHER_NAMES])
def test_rows_that_have_other_names_are_rows(table):
    for row in table:
        name, overload = row.split(".")
        assert overload in getattr(taeda.ops.aten, name).overloads(), row


def test_public_names():
    assert all(map(public_name, ("add", "_to_copy", "_fft_r2c", "_fft_c2c", "_fft_c2r")))
    assert not public_name("_lstm")


def test_names_say_where_the_tensors_are():
    aten = taeda.ops.aten
    for target, tensors, wanted in (
        (aten.pow.Tensor_Tensor, [True, True], "aten.pow.Tensor_Tensor"),
        (aten.pow.Tensor_Tensor, [True, False], "aten.pow.Tensor_Scalar"),
        (aten.pow.Tensor_Tensor, [False, True], "aten.pow.Scalar"),
        (aten.pow_.Tensor_Tensor, [True, True], "aten.pow_.Tensor"),
        (aten.pow_.Tensor_Tensor, [True, False], "aten.pow_.Scalar"),
        (aten.where.self, [True, False, True], "aten.where.ScalarSelf"),
        (aten._unique_consecutive.default, [True, False], "aten.unique_consecutive.default"),
        (aten._lstm.default, [True], "taeda._lstm.default"),
    ):
        assert name_of(target, tensors) == f"torch.ops.{wanted}"
