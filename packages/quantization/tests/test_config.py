"""Configurations say what they hold, and refuse what they cannot mean."""

from __future__ import annotations

import pytest

import taeda
from taeda.quantization import int4_weight_only, int8_weight_only


def test_configurations_are_values():
    assert int8_weight_only() == int8_weight_only(None) != int8_weight_only(32)
    assert int4_weight_only(64).group_size == 64
    assert not int4_weight_only(symmetric=False).symmetric
    assert int4_weight_only(symmetric=False).pack(taeda.randn(4, 64)).offsets is not None


def test_groups_of_16_are_for_bytes_alone():
    packed = int8_weight_only(16).pack(taeda.randn(4, 64))
    assert packed.scales.shape == (4, 4)
    with pytest.raises(ValueError, match="positive multiple of 32, not 16"):
        int4_weight_only(16)


@pytest.mark.parametrize("make", [int8_weight_only, int4_weight_only])
@pytest.mark.parametrize(
    ("size", "error", "fact"),
    [
        (0, ValueError, "multiple of 32, not 0"),
        (-32, ValueError, "not -32"),
        (48, ValueError, "not 48"),
        (8, ValueError, "not 8"),
        (32.0, TypeError, "not 32.0"),
        (True, TypeError, "not True"),
        ("32", TypeError, "not '32'"),
    ],
)
def test_refusals(make, size, error, fact):
    with pytest.raises(error, match=fact):
        make(size)


def test_symmetric_is_a_truth_value():
    with pytest.raises(TypeError, match="not 1"):
        int4_weight_only(symmetric=1)
