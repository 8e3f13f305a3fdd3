"""Training that is stopped half-way and goes on from a checkpoint in a new model, as if nothing had
happened.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

import taeda
from taeda import nn


def make() -> nn.Module:
    return nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 1))


def _parts(model: nn.Module):
    optimizer = taeda.optim.Adam(model.parameters(), lr=1e-2)
    return optimizer, taeda.optim.lr_scheduler.StepLR(optimizer, 5, gamma=0.5)


def _run(model, optimizer, schedule, epochs: range) -> list[float]:
    losses = []
    for epoch in epochs:
        rng = np.random.default_rng(epoch)
        x = taeda.from_numpy(rng.normal(size=(32, 8)).astype("float32"))
        loss = nn.functional.mse_loss(model(x).squeeze(1), x.norm(dim=1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
    return losses


def train(model: nn.Module, epochs: int = 20) -> list[float]:
    optimizer, schedule = _parts(model)
    begun = _run(model, optimizer, schedule, range(epochs // 2))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "checkpoint.pt"
        state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
        taeda.save({**state, "schedule": schedule.state_dict(), "epoch": epochs // 2}, path)
        saved = taeda.load(path, map_location="cpu", weights_only=True)
    fresh = make()
    fresh.load_state_dict(saved["model"])
    optimizer2, schedule2 = _parts(fresh)
    optimizer2.load_state_dict(saved["optimizer"])
    schedule2.load_state_dict(saved["schedule"])
    rest = range(saved["epoch"], epochs)
    resumed = _run(fresh, optimizer2, schedule2, rest)
    assert resumed == _run(model, optimizer, schedule, rest)
    return [*begun, *resumed]


if __name__ == "__main__":
    print(train(make()))
