"""Optimizers and schedules walk the same way as torch's."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
from parity import to_taeda, to_torch  # noqa: E402

import taeda  # noqa: E402 - after the check: without torch there is nothing to compare

OPTIMIZERS = [
    "SGD(p, lr=0.1)",
    "SGD(p, lr=0.1, momentum=0.9)",
    "SGD(p, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01)",
    "SGD(p, lr=0.01, momentum=0.9, dampening=0.5, maximize=True)",
    "Adam(p)",
    "Adam(p, lr=0.05, betas=(0.8, 0.9), eps=1e-6, weight_decay=0.1)",
    "Adam(p, lr=0.05, amsgrad=True)",
    "Adam(p, lr=0.05, maximize=True)",
    "AdamW(p, lr=0.05)",
    "AdamW(p, lr=0.05, weight_decay=0.5, amsgrad=True)",
    "AdamW([{'params': p[:1], 'lr': 0.2}, {'params': p[1:], 'weight_decay': 0.0}], lr=0.05)",
]
SCHEDULES = [
    "StepLR(o, 3, gamma=0.5)",
    "CosineAnnealingLR(o, 7)",
    "CosineAnnealingLR(o, 4, eta_min=0.01)",
    "LambdaLR(o, lambda step: 0.9**step)",
]


@pytest.mark.parametrize("text", OPTIMIZERS)
def test_the_same_walk(text):
    ours, theirs = (walk(library, text, 20) for library in (taeda, torch))
    for step, (one, other) in enumerate(zip(ours, theirs, strict=True)):
        for mine, wanted in zip(one, other, strict=True):
            torch.testing.assert_close(
                mine,
                wanted,
                rtol=2e-5,
                atol=2e-6,
                msg=lambda said, step=step: f"step {step}: {said}",
            )


@pytest.mark.parametrize("text", OPTIMIZERS)
def test_the_same_state_dict(text):
    found = []
    for library in (taeda, torch):
        optimizer, parameters = make(library, text)
        step(library, optimizer, parameters)
        found.append(optimizer.state_dict())
    ours, theirs = found
    assert [group["params"] for group in ours["param_groups"]] == [
        g["params"] for g in theirs["param_groups"]
    ]
    for one, other in zip(ours["param_groups"], theirs["param_groups"], strict=True):
        assert set(one) == set(other)
    assert ours["state"].keys() == theirs["state"].keys()
    for index, state in theirs["state"].items():
        assert set(ours["state"][index]) == set(state), index


@pytest.mark.parametrize("text", SCHEDULES)
def test_the_same_rates(text):
    rates = []
    for library in (taeda, torch):
        optimizer, parameters = make(library, "SGD(p, lr=0.3)")
        schedule = eval(text, {**vars(library.optim.lr_scheduler), "o": optimizer})
        rates.append([])
        for _ in range(12):
            step(library, optimizer, parameters)
            schedule.step()
            rates[-1].append(schedule.get_last_lr()[0])
    assert rates[0] == pytest.approx(rates[1], rel=1e-12)


def make(library, text):
    """An optimizer over a matrix and a vector that begin the same in both libraries."""
    generator = torch.Generator().manual_seed(0)
    start = [torch.randn(shape, generator=generator) for shape in ((4, 3), (5,))]
    parameters = [x.clone() if library is torch else to_taeda(x) for x in start]
    parameters = [x.requires_grad_() for x in parameters]
    return eval(f"optim.{text}", {"optim": library.optim, "p": parameters}), parameters


def step(library, optimizer, parameters):
    optimizer.zero_grad()
    sum((x * x / 2 + (3 * x).sin()).sum() for x in parameters).backward()
    optimizer.step()


def walk(library, text, steps):
    """The parameters after each step, as torch tensors."""
    optimizer, parameters = make(library, text)
    found = []
    for _ in range(steps):
        step(library, optimizer, parameters)
        found.append(
            [x.detach().clone() if library is torch else to_torch(x.clone()) for x in parameters]
        )
    return found
