"""Joined layers that are trained for integers."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.ao import quantization as q
from taeda.ao.nn import intrinsic


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("relu", [False, True])
def test_without_rounding_they_are_the_float_layers(rank, relu):
    conv, bn = getattr(nn, f"Conv{rank}d")(2, 3, 2), getattr(nn, f"BatchNorm{rank}d")(3)
    name = f"ConvBn{'ReLU' * relu}{rank}d"
    joined = getattr(intrinsic, name)(conv, bn, *[nn.ReLU()] * relu)
    joined.qconfig = q.get_default_qat_qconfig("x86")
    x = taeda.randn(4, 2, *[4] * rank)
    made = getattr(intrinsic.qat, name).from_float(joined)
    made.apply(q.disable_fake_quant)
    made.eval()
    joined.eval()
    assert taeda.allclose(made(x), joined(x), atol=1e-5)
    assert taeda.allclose(made.to_float().eval()(x), joined(x), atol=1e-5)


def test_statistics_can_be_frozen():
    made = intrinsic.qat.ConvBn2d(1, 2, 1, qconfig=q.default_qat_qconfig)
    made.apply(intrinsic.qat.freeze_bn_stats)
    before = made.bn.running_mean.clone()
    made.train()(taeda.rand(2, 1, 3, 3))
    assert taeda.equal(made.bn.running_mean, before)
    made.apply(intrinsic.qat.update_bn_stats)
    made(taeda.rand(2, 1, 3, 3))
    assert not taeda.equal(made.bn.running_mean, before)


def test_results_are_not_below_0():
    linear = intrinsic.qat.LinearReLU(3, 2, qconfig=q.default_qat_qconfig)
    assert float(linear(taeda.randn(5, 3)).min()) >= 0
    conv = intrinsic.qat.ConvReLU2d(1, 2, 1, qconfig=q.default_qat_qconfig)
    assert float(conv(taeda.randn(2, 1, 3, 3)).min()) >= 0
    with pytest.raises(AssertionError, match="wants ConvBn2d with a qconfig"):
        intrinsic.qat.ConvBn2d.from_float(nn.Conv2d(1, 1, 1))
    with pytest.raises(AssertionError, match="wants a qconfig"):
        intrinsic.qat.ConvBn2d(1, 1, 1)
