"""Looking inside: hooks of modules, tensors and gradients, a penalty on activations, statistics by name."""

from __future__ import annotations

import taeda
from taeda import nn


def make() -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(4, 12), nn.Tanh(), nn.Linear(12, 12), nn.Tanh(), nn.Linear(12, 1)
    )


def train(model: nn.Sequential, steps: int = 15) -> list[float]:
    seen: dict[str, taeda.Tensor] = {}
    norms: list[float] = []

    def keep(name):
        def hook(module, inputs, output):
            seen[name] = output

        return hook

    handles = [
        m.register_forward_hook(keep(n)) for n, m in model.named_modules() if n in ("1", "3")
    ]
    handles.append(model.register_forward_pre_hook(lambda module, inputs: (inputs[0] * 0.5,)))
    handles.append(
        model[2].register_full_backward_hook(
            lambda module, grad_in, grad_out: norms.append(grad_out[0].norm().item())
        )
    )
    handles.append(model[0].weight.register_hook(lambda grad: grad.clamp(-0.01, 0.01)))
    x = taeda.linspace(-1, 1, 80).reshape(20, 4)
    y = (x**2).sum(1, keepdim=True)
    optimizer = taeda.optim.Adam(model.parameters(), lr=1e-2)
    losses = []
    for _ in range(steps):
        loss = (model(x) - y).abs().mean() + 1e-3 * sum(a.pow(2).sum() for a in seen.values())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    for handle in handles:
        handle.remove()
    model(x)
    assert len(norms) == steps
    return [*losses, *norms]


if __name__ == "__main__":
    print(train(make()))
