"""Tables of the format."""

from __future__ import annotations

import taeda
from taeda.export._pt2._kinds import DTYPES, FORMATS, NUMBERS, SCALARS, TENSORS, public_name


def test_tables_go_both_ways():
    for table in (DTYPES, FORMATS, NUMBERS, SCALARS):
        assert len(set(table.values())) == len(table)
    assert {TENSORS[s] for s in SCALARS.values()} == set(SCALARS)


def test_rows_with_numbers_are_rows():
    for row in SCALARS:
        name, overload = row.split(".")
        assert overload in getattr(taeda.ops.aten, name).overloads(), row


def test_public_names():
    assert all(map(public_name, ("add", "_to_copy", "_fft_r2c", "_fft_c2c", "_fft_c2r")))
    assert not public_name("_lstm")
