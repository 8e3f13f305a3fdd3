"""What a learning rate does over time under nine schedules, one of them a sum of others, one that
watches the loss.
"""

from __future__ import annotations

import taeda
from taeda import nn
from taeda.optim import lr_scheduler as schedules


def make() -> nn.Module:
    return nn.Linear(3, 1)


KINDS = {
    "steps": lambda o: schedules.MultiStepLR(o, [3, 6], gamma=0.3),
    "lambda": lambda o: schedules.LambdaLR(o, lambda epoch: 0.9**epoch),
    "polynomial": lambda o: schedules.PolynomialLR(o, total_iters=8, power=2.0),
    "warm restarts": lambda o: schedules.CosineAnnealingWarmRestarts(o, T_0=3, T_mult=2),
    "cyclic": lambda o: schedules.CyclicLR(o, 0.01, 0.1, step_size_up=3, mode="triangular2"),
    "one cycle": lambda o: schedules.OneCycleLR(o, 0.2, total_steps=12, anneal_strategy="linear"),
    "constant": lambda o: schedules.ConstantLR(o, factor=0.2, total_iters=4),
    "chained": lambda o: schedules.ChainedScheduler(
        [schedules.ConstantLR(o, 0.5, 4), schedules.ExponentialLR(o, 0.9)]
    ),
    "plateau": lambda o: schedules.ReduceLROnPlateau(o, factor=0.5, patience=1),
}


def train(model: nn.Module, steps: int = 12) -> list[float]:
    x = taeda.linspace(-1, 1, 30).reshape(10, 3)
    y = x.sum(1, keepdim=True)
    losses = []
    for name, kind in KINDS.items():
        optimizer = taeda.optim.SGD(
            [{"params": [model.weight]}, {"params": [model.bias], "lr": 0.02}],
            lr=0.05,
            momentum=0.8,
        )
        schedule = kind(optimizer)
        for _ in range(steps):
            loss = nn.functional.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if name == "plateau":
                schedule.step(loss.detach())
            else:
                schedule.step()
            losses += [loss.item(), *(group["lr"] for group in optimizer.param_groups)]
    return losses


if __name__ == "__main__":
    print(train(make()))
