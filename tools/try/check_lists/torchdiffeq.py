"""torchdiffeq: solvers, adjoints, events."""

from __future__ import annotations

from typing import Any

import torch
from torchdiffeq import odeint, odeint_adjoint, odeint_event

from .given import filled, gradients, normal


class Field(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.net = filled(
            torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3))
        )

    def forward(self, time: Any, x: Any) -> Any:
        return self.net(x) - 0.1 * x * time


def solvers() -> Any:
    field, x, times = Field(), normal(2, 3), torch.linspace(0, 1, 5)
    names = (
        "dopri5",
        "dopri8",
        "bosh3",
        "adaptive_heun",
        "rk4",
        "euler",
        "midpoint",
        "explicit_adams",
        "implicit_adams",
        "scipy_solver",
    )
    options = {"scipy_solver": {"solver": "LSODA"}}
    return [odeint(field, x, times, method=name, options=options.get(name)) for name in names]


def gradients_by_both_ways() -> Any:
    found = []
    for solve in (odeint, odeint_adjoint):
        from .given import again

        again()
        field, x = Field(), normal(2, 3).requires_grad_()
        solve(field, x, torch.linspace(0, 1, 5), rtol=1e-6, atol=1e-8).square().sum().backward()
        found.append([x.grad, *gradients(field)])
    assert all(torch.allclose(a, b, atol=1e-3) for a, b in zip(*found, strict=True))
    return found


def events() -> Any:
    start = torch.tensor([10.0, 0.0])
    time, state = odeint_event(
        lambda t, x: torch.stack([x[1], torch.tensor(-9.8)]),
        start,
        torch.tensor(0.0),
        event_fn=lambda t, x: x[0],
        method="dopri5",
    )
    return [time, state[-1]]
