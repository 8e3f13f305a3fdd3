"""A layer and the normalisation after it as one layer."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.nn import utils


def normalisation(kind, features):
    bn = kind(features)
    with taeda.no_grad():
        for tensor in (bn.weight, bn.bias, bn.running_mean, bn.running_var):
            tensor.uniform_(0.5, 2)
    return bn.eval()


@pytest.mark.parametrize("bias", [True, False])
def test_a_fused_convolution_computes_both(bias):
    conv, bn = nn.Conv2d(2, 3, 3, bias=bias).eval(), normalisation(nn.BatchNorm2d, 3)
    x = taeda.randn(1, 2, 5, 5)
    assert taeda.allclose(utils.fuse_conv_bn_eval(conv, bn)(x), bn(conv(x)), atol=1e-5)
    transposed = nn.ConvTranspose2d(2, 3, 3, bias=bias).eval()
    fused = utils.fuse_conv_bn_eval(transposed, bn, transpose=True)
    assert taeda.allclose(fused(x), bn(transposed(x)), atol=1e-5)


def test_a_fused_linear_computes_both():
    linear, bn = nn.Linear(4, 3).eval(), normalisation(nn.BatchNorm1d, 3)
    x = taeda.randn(2, 4)
    assert taeda.allclose(utils.fuse_linear_bn_eval(linear, bn)(x), bn(linear(x)), atol=1e-5)
    with pytest.raises(AssertionError, match="only for eval"):
        utils.fuse_linear_bn_eval(nn.Linear(4, 3), bn)
    with pytest.raises(AssertionError, match="got 5 and 3"):
        utils.fuse_linear_bn_eval(nn.Linear(4, 5).eval(), bn)
