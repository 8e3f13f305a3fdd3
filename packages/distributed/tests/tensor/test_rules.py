"""Programs of DTensors, and rows without a rule: what a mesh gives is what one device gives."""

from __future__ import annotations

import warnings

import pytest
from dtensor_calls import Counts, faults, rows_under
from dtensor_programs import MESHES
from dtensor_programs import faults as program_faults


def test_rows_without_a_rule_are_gathered():
    rows, counts = rows_under(None), Counts()
    assert not faults(rows, 2, 0, 2, counts)
    assert 50 < len(rows) < 140


# the last mesh has the most ranks
@pytest.mark.parametrize("mesh", [*MESHES[:-1], pytest.param(MESHES[-1], marks=pytest.mark.slow)])
def test_random_programs(mesh):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found, refused = program_faults(range(1000, 1025), mesh)
    assert not found
    assert refused < 10
