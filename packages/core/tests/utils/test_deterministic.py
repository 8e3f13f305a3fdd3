"""Whether fresh memory is filled while deterministic algorithms are asked for."""

from __future__ import annotations

import math

import pytest

import taeda
from taeda.utils import deterministic


@pytest.fixture(autouse=True)
def as_before():
    before = taeda.are_deterministic_algorithms_enabled(), deterministic.fill_uninitialized_memory
    yield
    taeda.use_deterministic_algorithms(before[0])
    deterministic.fill_uninitialized_memory = before[1]


def test_it_acts_while_algorithms_are_deterministic():
    assert deterministic.fill_uninitialized_memory is True
    taeda.use_deterministic_algorithms(True)
    assert all(math.isnan(v) for v in taeda.empty(100).tolist())
    assert set(taeda.empty(100, dtype=taeda.int16).tolist()) == {32767}
    deterministic.fill_uninitialized_memory = False
    assert deterministic.fill_uninitialized_memory is False
    kept = taeda.full((100,), 3.0)
    kept.resize_(100)
    assert kept.tolist() == [3.0] * 100


def test_it_is_a_bool():
    with pytest.raises(TypeError, match="must be a bool, not int"):
        deterministic.fill_uninitialized_memory = 1
