"""Rows of kernels under the names that programs use."""

from __future__ import annotations

import pytest
from program_models import normal

from taeda import nn
from taeda.export import export

LAYERS = {
    "conv1d": (nn.Conv1d(2, 3, 3, stride=2), (4, 2, 9)),
    "conv2d": (nn.Conv2d(2, 4, 3, groups=2, dilation=2), (4, 2, 9, 9)),
    "conv3d": (nn.Conv3d(2, 3, 2, padding=1, bias=False), (2, 2, 4, 4, 4)),
    "batch_norm": (nn.BatchNorm1d(3).eval(), (4, 3)),
    "layer_norm": (nn.LayerNorm(3), (4, 3)),
    "group_norm": (nn.GroupNorm(2, 4), (3, 4, 5)),
}


@pytest.mark.parametrize("name", LAYERS)
def test_public_names(name):
    layer, shape = LAYERS[name]
    program = export(layer, (normal(*shape),))
    called = [str(n.target) for n in program.graph.nodes if n.op == "call_function"]
    assert f"aten.{name}.default" in called
    assert not [c for c in called if c.startswith(("aten._", "aten.native_", "aten.convolution"))]
    assert program.module()(normal(*shape)).equal(layer(normal(*shape)))


def test_transposed_convolutions_keep_their_row():
    layer = nn.ConvTranspose2d(2, 3, 3, stride=2, output_padding=1)
    x = normal(2, 2, 4, 4)
    assert export(layer, (x,)).module()(x).equal(layer(x))
