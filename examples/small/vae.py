"""A variational autoencoder: the reparameterization trick and two terms of loss."""

from __future__ import annotations

import numpy as np

import taeda
import taeda.nn.functional as F
from taeda import nn
from taeda.distributions import Normal, kl_divergence


class VAE(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(16, 24), nn.Tanh())
        self.mean, self.log_variance = nn.Linear(24, 3), nn.Linear(24, 3)
        self.decoder = nn.Sequential(nn.Linear(3, 24), nn.Tanh(), nn.Linear(24, 16), nn.Sigmoid())

    def forward(self, x, noise):
        h = self.encoder(x)
        mean, log_variance = self.mean(h), self.log_variance(h).clamp(-8, 8)
        z = mean + noise * taeda.exp(0.5 * log_variance)
        return self.decoder(z), Normal(mean, taeda.exp(0.5 * log_variance))


def make() -> nn.Module:
    return VAE()


def train(model: nn.Module, steps: int = 40) -> list[float]:
    rng = np.random.default_rng(0)
    x = taeda.from_numpy((rng.random((64, 16)) > rng.random((64, 1))).astype("float32"))
    optimizer = taeda.optim.Adam(model.parameters(), lr=5e-3)
    losses = []
    for _ in range(steps):
        noise = taeda.from_numpy(rng.normal(size=(64, 3)).astype("float32"))
        made, posterior = model(x, noise)
        rebuilt = F.binary_cross_entropy(made, x, reduction="sum")
        distance = kl_divergence(posterior, Normal(taeda.zeros(3), taeda.ones(3))).sum()
        loss = (rebuilt + distance) / len(x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


if __name__ == "__main__":
    print(train(make()))
