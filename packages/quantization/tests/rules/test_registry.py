"""How rules are registered."""

from __future__ import annotations

import pytest
from quantized_tensors import channels, numbers

import taeda
from taeda._native import core
from taeda.quantization.rules._registry import integers_in, one_scale, same_scale


def test_every_rule_is_of_a_row():
    rows = {name for name, *_ in core.op_rows()}
    for written in (False, True):
        assert len(core.layout_rules(core._quantized, written)) > 10
    known = set(core.layout_rules(core._quantized, False))
    assert len(known & rows) > 90


def test_integers_of_lists():
    x = numbers(2)
    made = integers_in([x, 1, (x,)])
    assert (made[0].dtype, made[1], made[2][0].dtype) == (taeda.uint8, 1, taeda.uint8)


def test_one_scale():
    assert same_scale("flip", numbers(2), [0]).q_scale() == 0.1
    with pytest.raises(RuntimeError, match=r"flip: a tensor that is taeda\.per_channel_affine"):
        one_scale(channels(2, 3), "flip")
