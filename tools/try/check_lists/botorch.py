"""botorch: a model fitted, an acquisition function optimized, several objectives."""

from __future__ import annotations

import warnings
from typing import Any

import torch
from botorch.acquisition import (
    ExpectedImprovement,
    UpperConfidenceBound,
    qLogNoisyExpectedImprovement,
)
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.optim import optimize_acqf
from gpytorch.mlls import ExactMarginalLogLikelihood

X = torch.linspace(0, 1, 12, dtype=torch.float64).view(6, 2)[:, [1, 0]] * torch.tensor(
    [1.0, 0.7], dtype=torch.float64
)
Y = -(X - 0.4).square().sum(-1, keepdim=True)
BOUNDS = torch.tensor([[0.0, 0.0], [1.0, 1.0]], dtype=torch.float64)


def _fitted() -> Any:
    warnings.simplefilter("ignore")
    model = SingleTaskGP(X, Y)
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    return model


def fits() -> Any:
    seen = _fitted().posterior(X)
    return [seen.mean, (seen.mean - Y).abs().max() < 0.05]


def optimizes() -> None:
    model = _fitted()
    for function in (UpperConfidenceBound(model, beta=0.1), ExpectedImprovement(model, Y.max())):
        where, value = optimize_acqf(function, BOUNDS, q=1, num_restarts=3, raw_samples=16)
        assert where.shape == (1, 2) and value.isfinite()
    noisy = qLogNoisyExpectedImprovement(model, X)
    where, _ = optimize_acqf(noisy, BOUNDS, q=2, num_restarts=2, raw_samples=8)
    assert where.shape == (2, 2)


def several_objectives() -> Any:
    from botorch.utils.multi_objective import Hypervolume, is_non_dominated

    y = torch.tensor([[1.0, 3], [2, 2], [3, 1], [1, 1]], dtype=torch.float64)
    best = is_non_dominated(y)
    assert best.tolist() == [True, True, True, False]
    return Hypervolume(torch.zeros(2, dtype=torch.float64)).compute(y[best])
