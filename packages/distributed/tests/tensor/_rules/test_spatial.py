"""Rows that work on images: every way that a rule claims gives the numbers of the whole."""

from __future__ import annotations

import pytest
from dtensor_calls import Counts, faults, rows_under

from taeda.distributed.tensor._rules import spatial


@pytest.mark.parametrize("ranks", [2, 3])
def test_claims_hold(ranks):
    rows, counts = rows_under(spatial), Counts()
    assert not faults(rows, ranks, ranks, 1, counts)
    assert len(counts.rows) > 0.8 * len(rows) > 1 and counts.claimed >= len(rows)
