"""taeda.Size holds ints."""

from __future__ import annotations

import numpy as np
import pytest

import taeda


@pytest.mark.parametrize("entry", [taeda.tensor(2), taeda.tensor([2]), np.int64(2), np.uint8(2)])
def test_whatever_counts_as_an_integer_becomes_one(entry):
    made = taeda.Size([1, entry])
    assert made == (1, 2) and type(made[1]) is int
    assert made.numel() == 2


def test_bools_become_ints():
    assert [type(n) for n in taeda.Size((True, False))] == [int, int]


@pytest.mark.parametrize("entry", [1.5, "2", None, taeda.ones(2), taeda.tensor(1.5)])
def test_anything_else_is_refused(entry):
    with pytest.raises(TypeError, match="item 1 is"):
        taeda.Size([1, entry])
