"""Methods of quantized tensors without the package that answers them."""

from __future__ import annotations

import pytest

import taeda

NAMES = (
    "int_repr",
    "qscheme",
    "q_scale",
    "q_zero_point",
    "q_per_channel_scales",
    "q_per_channel_zero_points",
    "q_per_channel_axis",
)


def test_a_plain_tensor_is_not_quantized():
    assert taeda.ones(2).is_quantized is False


@pytest.mark.parametrize("name", NAMES)
def test_methods_are_there_and_say_what_brings_them(name):
    wanted = "taeda-quantization|wanted a quantized tensor"
    method = getattr(taeda.ones(2), name)
    with pytest.raises((AttributeError, NotImplementedError), match=wanted):
        method()
