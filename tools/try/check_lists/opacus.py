"""opacus: private training in three ways, and its accountants."""

from __future__ import annotations

import copy
from typing import Any

import torch
from opacus import PrivacyEngine
from opacus.validators import ModuleValidator

from .given import batches, filled, normal, whole


def _private(mode: str) -> None:
    nn = torch.nn
    net = filled(
        nn.Sequential(
            nn.Conv2d(1, 4, 3), nn.GroupNorm(2, 4), nn.ReLU(), nn.Flatten(), nn.Linear(144, 2)
        )
    )
    optimizer, loss = torch.optim.SGD(net.parameters(), lr=0.1), nn.CrossEntropyLoss()
    engine, before = PrivacyEngine(), copy.deepcopy(net.state_dict())
    made = engine.make_private(
        module=net,
        optimizer=optimizer,
        data_loader=batches(normal(32, 1, 8, 8), whole(2, 32)),
        noise_multiplier=1.0,
        max_grad_norm=1.0,
        grad_sample_mode=mode,
        criterion=loss,
    )
    if mode == "ghost":
        net, optimizer, loss, data = made
    else:
        net, optimizer, data = made
    for x, y in data:
        if len(x):
            optimizer.zero_grad()
            loss(net(x), y).backward()
            optimizer.step()
    assert engine.get_epsilon(1e-5) > 0
    assert any(
        not torch.equal(a, b)
        for a, b in zip(before.values(), net.state_dict().values(), strict=True)
    )


def by_hooks() -> None:
    _private("hooks")


def by_functorch() -> None:
    _private("functorch")


def by_ghosts() -> None:
    _private("ghost")


def gradients_of_samples() -> Any:
    from opacus.grad_sample import GradSampleModule

    net = filled(torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2)))
    wrapped = GradSampleModule(net)
    wrapped(normal(5, 3)).square().sum().backward()
    assert ModuleValidator.is_valid(
        ModuleValidator.fix(torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3), torch.nn.BatchNorm2d(4)))
    )
    return [p.grad_sample for p in net.parameters()]
