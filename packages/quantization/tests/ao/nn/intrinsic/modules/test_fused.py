"""Layers that were joined."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.ao.nn import intrinsic


@pytest.mark.parametrize("name", intrinsic.__all__[:-1])
def test_layers_are_called_in_turn(name):
    kinds = getattr(intrinsic, name).kinds
    made = {
        "Conv": lambda k: k(2, 2, 1),
        "Batc": lambda k: k(2),
        "Line": lambda k: k(2, 2),
        "ReLU": lambda k: k(),
    }
    layers = [
        made[(k[0] if isinstance(k, tuple) else k).__name__[:4]](
            k[0] if isinstance(k, tuple) else k
        )
        for k in kinds
    ]
    joined = getattr(intrinsic, name)(*layers)
    rank = int(name[-2]) if name[-1] == "d" else 0
    x = taeda.randn(3, 2, *[2] * rank) if "Linear" not in name else taeda.randn(3, 2)
    wanted = x
    for layer in layers:
        wanted = layer.eval()(wanted)
    assert taeda.equal(joined.eval()(x), wanted)


def test_others_are_refused():
    with pytest.raises(AssertionError, match="LinearReLU wants"):
        intrinsic.LinearReLU(nn.Linear(1, 1), nn.Tanh())
