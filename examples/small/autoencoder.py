"""A convolutional autoencoder that takes noise out of pictures, in the memory format of images."""

from __future__ import annotations

import numpy as np

import taeda
import taeda.nn.functional as F
from taeda import nn


class Autoencoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.down = nn.Sequential(
            nn.Conv2d(1, 8, 3, stride=2, padding=1),
            nn.GroupNorm(2, 8),
            nn.ELU(),
            nn.Conv2d(8, 16, 3, stride=2, padding=1),
        )
        self.up = nn.Sequential(
            nn.ConvTranspose2d(16, 8, 4, stride=2, padding=1),
            nn.ELU(),
            nn.Upsample(scale_factor=2, mode="bilinear", align_corners=False),
            nn.Conv2d(8, 1, 3, padding=1),
        )

    def forward(self, x):
        return self.up(F.elu(self.down(x)))


def make() -> nn.Module:
    return Autoencoder()


def train(model: nn.Module, steps: int = 20) -> list[float]:
    rng = np.random.default_rng(0)
    axis = taeda.linspace(-1, 1, 16)
    centres = taeda.from_numpy(rng.uniform(-0.6, 0.6, (32, 2)).astype("float32"))
    y, x = taeda.meshgrid(axis, axis, indexing="ij")
    away = (y - centres[:, :1, None]) ** 2 + (x - centres[:, 1:, None]) ** 2
    clean = taeda.exp(-8 * away)[:, None]
    noisy = clean + 0.2 * taeda.from_numpy(rng.normal(size=(32, 1, 16, 16)).astype("float32"))
    model = model.to(memory_format=taeda.channels_last)
    noisy = noisy.contiguous(memory_format=taeda.channels_last)
    optimizer = taeda.optim.NAdam(model.parameters(), lr=5e-3)
    schedule = taeda.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.97)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        made = model(noisy)
        loss = F.mse_loss(made, clean) + 0.1 * F.l1_loss(made, clean)
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
    return losses


if __name__ == "__main__":
    print(train(make()))
