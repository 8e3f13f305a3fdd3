"""Numbers that are the same in every framework, and what checks share."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

_stream = np.random.default_rng(0)


def again() -> None:
    """Begin the numbers, and those of the framework, from their first."""
    global _stream
    _stream = np.random.default_rng(0)
    torch.manual_seed(0)
    np.random.seed(0)


def normal(*shape: int) -> Any:
    """A tensor of normal numbers."""
    return torch.from_numpy(_stream.standard_normal(shape, np.float32))


def uniform(*shape: int) -> Any:
    """A tensor of numbers from 0 up to 1."""
    return torch.from_numpy(_stream.random(shape, np.float32))


def whole(high: int, *shape: int) -> Any:
    """A tensor of whole numbers below `high`."""
    return torch.from_numpy(_stream.integers(0, high, shape))


def filled(module: Any) -> Any:
    """The module, its parameters from the numbers above and of a size that keeps activations near 1."""
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            drawn = normal(*parameter.shape).to(parameter.dtype)
            if parameter.dim() > 1:
                parameter.copy_(drawn / parameter[0].numel() ** 0.5)
            else:
                parameter.copy_(drawn * 0.1 + ("weight" in name))
    return module


def gradients(module: Any) -> list[Any]:
    """The gradients of a module; each parameter must have one that is finite."""
    found = {name: p.grad for name, p in module.named_parameters() if p.requires_grad}
    lacking = [name for name, grad in found.items() if grad is None]
    assert not lacking, f"no gradient: {lacking[:5]}"
    assert all(bool(grad.isfinite().all()) for grad in found.values())
    return list(found.values())


def trained(module: Any, loss: Any, steps: int = 4, rate: float = 1e-3) -> list[float]:
    """The losses of some steps of Adam; the last must be below the first."""
    optimizer = torch.optim.Adam(module.parameters(), lr=rate)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        value = loss()
        value.backward()
        optimizer.step()
        losses.append(float(value))
    assert losses[-1] < losses[0], losses
    return losses


def batches(x: Any, y: Any, size: int = 8) -> Any:
    """A loader of these, in their order."""
    data = torch.utils.data.TensorDataset(x, y)
    return torch.utils.data.DataLoader(data, batch_size=size)
