"""A linear layer for dynamic quantization."""

from __future__ import annotations

import pytest

import taeda
from taeda.ao import quantization as q
from taeda.ao.nn import qat


def test_the_activation_keeps_no_scale():
    layer = qat.dynamic.Linear(4, 3, qconfig=q.default_dynamic_qat_qconfig)
    x = taeda.randn(2, 4)
    assert tuple(layer(x).shape) == (2, 3)
    with pytest.raises(ValueError, match="keeps no scale"):
        qat.dynamic.Linear(4, 3, qconfig=q.default_qat_qconfig)
