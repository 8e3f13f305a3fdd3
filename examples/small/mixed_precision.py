"""bfloat16 by autocast, a GradScaler, and gradients gathered over several small batches."""

from __future__ import annotations

import numpy as np

import taeda
import taeda.nn.functional as F
from taeda import nn


def make() -> nn.Module:
    return nn.Sequential(nn.Linear(12, 32), nn.LayerNorm(32), nn.GELU(), nn.Linear(32, 3))


def train(model: nn.Module, steps: int = 15, parts: int = 2) -> list[float]:
    rng = np.random.default_rng(0)
    x = taeda.from_numpy(rng.normal(size=(64, 12)).astype("float32"))
    y = x[:, :3].argmax(1)
    optimizer = taeda.optim.AdamW(model.parameters(), lr=1e-2)
    scaler = taeda.amp.GradScaler("cpu", init_scale=1024.0)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        total = 0.0
        for rows, wanted in zip(x.chunk(parts), y.chunk(parts), strict=True):
            with taeda.autocast("cpu", dtype=taeda.bfloat16):
                made = model(rows)
                loss = F.cross_entropy(made.float(), wanted) / parts
            assert made.dtype == taeda.bfloat16
            scaler.scale(loss).backward()
            total += loss.item()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        losses.append(total)
    return losses


if __name__ == "__main__":
    print(train(make()))
