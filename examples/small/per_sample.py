"""Derivatives as functions: gradients of each sample, a Hessian, and a step of Newton."""

from __future__ import annotations

import taeda
from taeda import nn
from taeda.func import functional_call, grad, hessian, vmap


def make() -> nn.Module:
    return nn.Sequential(nn.Linear(3, 8), nn.Softplus(), nn.Linear(8, 1))


def train(model: nn.Module, steps: int = 10) -> list[float]:
    x = taeda.linspace(-1, 1, 36).reshape(12, 3)
    y = taeda.cos(x.sum(1))

    def loss_of(parameters, row, wanted):
        return (functional_call(model, parameters, (row,)).squeeze() - wanted) ** 2

    losses = []
    for _ in range(steps):
        parameters = {name: p.detach() for name, p in model.named_parameters()}
        each = vmap(grad(loss_of), in_dims=(None, 0, 0))(parameters, x, y)
        total = vmap(loss_of, in_dims=(None, 0, 0))(parameters, x, y)
        with taeda.no_grad():
            for name, p in model.named_parameters():
                size = each[name].flatten(1).norm(dim=1).clamp(min=1.0)
                p -= 0.1 * (each[name] / size.view(-1, *[1] * p.dim())).mean(0)
        losses.append(total.mean().item())
    curve = hessian(lambda v: taeda.logsumexp(v, 0) + (v**4).sum())(taeda.tensor([0.5, -0.25, 1.0]))
    return [*losses, *curve.flatten().tolist()]


if __name__ == "__main__":
    print(train(make()))
