"""optuna: searches of settings, with pruning."""

from __future__ import annotations

import optuna
import torch

optuna.logging.set_verbosity(optuna.logging.ERROR)


def _loss(trial: optuna.Trial, prunes: bool) -> float:
    x = torch.linspace(-1, 1, 32)[:, None]
    net = torch.nn.Linear(1, 1)
    kind = trial.suggest_categorical("kind", ["SGD", "Adam"])
    rate = trial.suggest_float("rate", 1e-3, 1e-1, log=True)
    optimizer = getattr(torch.optim, kind)(net.parameters(), lr=rate)
    for step in range(10):
        loss = (net(x) - 2 * x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        trial.report(float(loss), step)
        if prunes and trial.should_prune():
            raise optuna.TrialPruned
    return float(loss)


def searches() -> None:
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=0))
    study.optimize(lambda trial: _loss(trial, False), n_trials=8)
    assert study.best_value < study.trials[0].value + 1e-9


def prunes() -> None:
    study = optuna.create_study(
        sampler=optuna.samplers.RandomSampler(0), pruner=optuna.pruners.MedianPruner(2, 2)
    )
    study.optimize(lambda trial: _loss(trial, True), n_trials=10)
    assert {trial.state.name for trial in study.trials} <= {"COMPLETE", "PRUNED"}
