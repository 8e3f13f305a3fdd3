"""What programs find in `taeda.functional` beside its own functions."""

import pytest

import taeda
from taeda import functional


@pytest.mark.parametrize("name", ["cdist", "istft", "norm", "split", "stft", "unravel_index"])
def test_operators_are_the_ones_at_the_top(name):
    assert getattr(functional, name) is getattr(taeda, name)
