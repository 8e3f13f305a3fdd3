"""Layers of a model as one."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.ao import quantization as q
from taeda.ao.nn import intrinsic


def model(rank=2):
    conv, norm = getattr(nn, f"Conv{rank}d"), getattr(nn, f"BatchNorm{rank}d")
    made = nn.Sequential(conv(2, 3, 2), norm(3), nn.ReLU())
    nn.init.uniform_(made[1].weight)
    return made


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_the_joined_layer_computes_the_same(rank):
    before = model(rank).eval()
    made = q.fuse_modules(before, ["0", "1", "2"])
    assert type(made[0]) is getattr(intrinsic, f"ConvReLU{rank}d")
    x = taeda.randn(2, 2, *[5] * rank)
    assert taeda.allclose(made(x), before(x), atol=1e-5)
    trained = q.fuse_modules_qat(model(rank), [["0", "1", "2"]])
    assert type(trained[0]) is getattr(intrinsic, f"ConvBnReLU{rank}d")


def test_hooks_and_places():
    before = nn.Sequential(nn.Sequential(nn.Linear(2, 2), nn.ReLU())).eval()
    seen = []
    before[0][1].register_forward_hook(lambda *args: seen.append(1))
    made = q.fuse_modules(before, ["0.0", "0.1"], inplace=True)
    assert made is before
    made(taeda.ones(1, 2))
    assert seen == [1]


def test_what_is_refused():
    with pytest.raises(AssertionError, match="fuse_modules wants a model in eval mode"):
        q.fuse_modules(model(), ["0", "1"])
    with pytest.raises(AssertionError, match="fuse_modules_qat wants a model in train mode"):
        q.fuse_modules_qat(model().eval(), ["0", "1"])
    with pytest.raises(AttributeError):
        q.fuse_modules(model().eval(), ["0", "nine"])
