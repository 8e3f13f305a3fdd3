"""Stubs, and what lies between them."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.ao import quantization as q


def test_they_do_nothing_before_convert():
    x = taeda.ones(2, 3)
    assert q.QuantStub()(x) is x
    assert q.DeQuantStub()(x) is x
    wrap = q.QuantWrapper(nn.Identity())
    assert wrap(x) is x


def test_a_qconfig_goes_along():
    layer = nn.Linear(3, 2)
    layer.qconfig = q.default_qconfig
    assert q.QuantWrapper(layer).quant.qconfig is q.default_qconfig
    with pytest.raises(AttributeError):
        _ = q.QuantStub().qconfig
