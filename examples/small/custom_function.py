"""A derivative of one's own: rounding to a few levels, which lets gradients through; checked
against differences.
"""

from __future__ import annotations

import numpy as np

import taeda
from taeda import nn


class Levels(taeda.autograd.Function):
    """Round to multiples of 1/8; the gradient passes where the input lies in [-1, 1]."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return taeda.round(x * 8) / 8

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * (x.abs() <= 1)


class Cube(taeda.autograd.Function):
    @staticmethod
    def forward(x, scale):
        return scale * x**3

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, ctx.scale = inputs
        ctx.save_for_backward(x)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 3 * ctx.scale * x**2 * grad, None


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(5, 16), nn.Linear(16, 1)

    def forward(self, x):
        return self.second(Levels.apply(taeda.tanh(self.first(x)))) + Cube.apply(x[:, :1], 0.5)


def make() -> nn.Module:
    return Net()


def train(model: nn.Module, steps: int = 40) -> list[float]:
    point = taeda.tensor([0.3, -0.7], dtype=taeda.float64, requires_grad=True)
    assert taeda.autograd.gradcheck(lambda x: Cube.apply(x, 2.0), (point,))
    rng = np.random.default_rng(0)
    x = taeda.from_numpy(rng.normal(size=(64, 5)).astype("float32"))
    y = x.prod(dim=1, keepdim=True)
    optimizer = taeda.optim.SGD(model.parameters(), lr=0.01, momentum=0.5)
    losses = []
    for _ in range(steps):
        loss = ((model(x) - y) ** 2).mean()
        model.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


if __name__ == "__main__":
    print(train(make()))
