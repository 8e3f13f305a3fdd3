"""Branches and loops in onnxruntime."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn, onnx
from taeda._higher_order_ops.while_loop import while_loop
from taeda.export import Dim

pytest.importorskip("onnxruntime", reason="onnxruntime is the other side")


class Branch(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        made = taeda.cond(
            x.sum() > 0, lambda x: (self.linear(x), x.clone()), lambda x: (x - 1, x.clone()), (x,)
        )
        return made[0] * 2 + made[1]


class Loop(nn.Module):
    def forward(self, x):
        def step(i, y):
            return i + 1, taeda.cond(y.sum() > 10, lambda y: y - 1, lambda y: y * 2, (y,))

        return while_loop(lambda i, y: i < x.shape[1], step, (taeda.tensor(0), x.abs()))


@pytest.mark.parametrize("kind", [Branch, Loop])
def test_both_ways_give_our_numbers_at_every_size(kind):
    model = kind().eval()
    made = onnx.export(model, (taeda.randn(3, 4),), dynamic_shapes=({0: Dim("n")},))
    for x in (-taeda.ones(3, 4), taeda.ones(3, 4), taeda.ones(5, 4)):
        wanted = model(x)
        wanted = wanted if isinstance(wanted, tuple) else (wanted,)
        for a, b in zip(made(x), wanted, strict=True):
            taeda.testing.assert_close(a, b)
