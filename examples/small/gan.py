"""Two networks against each other, each with an optimizer of its own; points on a circle."""

from __future__ import annotations

import numpy as np

import taeda
from taeda import nn


def make() -> nn.ModuleDict:
    generator = nn.Sequential(nn.Linear(4, 24), nn.ReLU(inplace=True), nn.Linear(24, 2))
    critic = nn.Sequential(nn.Linear(2, 24), nn.LeakyReLU(0.2), nn.Linear(24, 1))
    return nn.ModuleDict({"generator": generator, "critic": critic})


def train(model: nn.ModuleDict, steps: int = 30) -> list[float]:
    generator, critic = model["generator"], model["critic"]
    makes = taeda.optim.Adam(generator.parameters(), lr=2e-3, betas=(0.5, 0.999))
    judges = taeda.optim.Adam(critic.parameters(), lr=2e-3, betas=(0.5, 0.999))
    criterion = nn.BCEWithLogitsLoss()
    rng = np.random.default_rng(0)
    losses = []
    for _ in range(steps):
        angle = taeda.from_numpy(rng.uniform(0, 6.28, 64).astype("float32"))
        real = taeda.stack([angle.cos(), angle.sin()], dim=1)
        fake = generator(taeda.from_numpy(rng.normal(size=(64, 4)).astype("float32")))

        judges.zero_grad()
        loss_real = criterion(critic(real), taeda.ones(64, 1))
        loss_fake = criterion(critic(fake.detach()), taeda.zeros(64, 1))
        (loss_real + loss_fake).backward()
        judges.step()

        for parameter in critic.parameters():
            parameter.requires_grad_(False)
        makes.zero_grad()
        loss = criterion(critic(fake), taeda.ones(64, 1))
        loss.backward()
        makes.step()
        for parameter in critic.parameters():
            parameter.requires_grad_(True)
        losses += [loss_real.item(), loss_fake.item(), loss.item()]
    return losses


if __name__ == "__main__":
    print(train(make()))
