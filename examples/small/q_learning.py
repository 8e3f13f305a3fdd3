"""Deep Q-learning of a walk along a corridor, with a memory of steps and a slow copy of the network."""

from __future__ import annotations

import copy
import random
from collections import deque

import taeda
import taeda.nn.functional as F
from taeda import nn

CELLS = 6


def make() -> nn.Module:
    return nn.Sequential(nn.Linear(CELLS, 32), nn.ReLU(), nn.Linear(32, 2))


def _step(cell: int, action: int) -> tuple[int, float, bool]:
    cell = max(0, cell + (1 if action else -1))
    return min(cell, CELLS - 1), float(cell == CELLS - 1) - 0.01, cell == CELLS - 1


def _seen(cells) -> taeda.Tensor:
    return F.one_hot(taeda.as_tensor(cells), CELLS).float()


def train(model: nn.Module, steps: int = 120) -> list[float]:
    chance = random.Random(0)
    slow = copy.deepcopy(model).requires_grad_(False)
    optimizer = taeda.optim.Adam(model.parameters(), lr=3e-3, amsgrad=True)
    memory: deque[tuple[int, int, float, int, bool]] = deque(maxlen=500)
    cell, losses = 0, []
    for step in range(steps):
        action = chance.randrange(2)
        following, reward, done = _step(cell, action)
        memory.append((cell, action, reward, following, done))
        cell = 0 if done else following
        if len(memory) < 16:
            continue
        cells, actions, rewards, nexts, ends = zip(*chance.sample(list(memory), 16), strict=True)
        q = model(_seen(cells)).gather(1, taeda.tensor(actions)[:, None]).squeeze(1)
        with taeda.no_grad():
            ahead = slow(_seen(nexts)).max(dim=1).values
            target = taeda.tensor(rewards) + 0.95 * ahead * ~taeda.tensor(ends)
        loss = F.smooth_l1_loss(q, target)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_value_(model.parameters(), 1.0)
        optimizer.step()
        if step % 10 == 0:
            for old, new in zip(slow.parameters(), model.parameters(), strict=True):
                old.lerp_(new, 0.5)
        losses.append(loss.item())
    return losses


if __name__ == "__main__":
    print(train(make()))
