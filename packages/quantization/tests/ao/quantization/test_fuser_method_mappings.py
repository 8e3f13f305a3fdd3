"""How layers become one."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.ao import quantization as q
from taeda.ao.quantization.fuser_method_mappings import fuse_conv_bn, fuse_linear_bn


def test_linear_and_transposed_layers():
    linear, bn = nn.Linear(3, 4).eval(), nn.BatchNorm1d(4).eval()
    taeda.nn.init.uniform_(bn.weight)
    x = taeda.randn(5, 3)
    assert taeda.allclose(fuse_linear_bn(False, linear, bn)(x), bn(linear(x)), atol=1e-5)
    conv, bn = nn.ConvTranspose2d(3, 4, 2).eval(), nn.BatchNorm2d(4).eval()
    x = taeda.randn(1, 3, 4, 4)
    made = q.get_fuser_method([nn.ConvTranspose2d, nn.BatchNorm2d])(False, conv, bn)
    assert taeda.allclose(made(x), bn(conv(x)), atol=1e-5)


def test_what_is_refused():
    with pytest.raises(NotImplementedError, match="cannot fuse modules"):
        q.get_fuser_method([nn.Linear, nn.Tanh])
    with pytest.raises(AssertionError, match="both be in train mode"):
        fuse_conv_bn(False, nn.Conv1d(1, 1, 1).eval(), nn.BatchNorm1d(1))
    with pytest.raises(NotImplementedError, match="not trained for integers"):
        fuse_linear_bn(True, nn.Linear(1, 1), nn.BatchNorm1d(1))
