from __future__ import annotations

import pytest

import taeda
from taeda.compiler._observe._optimizers import is_optimizer


def stepped(**options):
    p = taeda.ones(2, requires_grad=True)
    p.grad = taeda.ones(2)
    return p, taeda.optim.SGD([p], lr=0.5, **options)


@pytest.mark.parametrize("option", ["momentum", "weight_decay"])
def test_options_are_guarded(watch, option):
    _, optimizer = stepped(momentum=0.5, weight_decay=0.5)
    observer, _ = watch(lambda: optimizer.step())
    assert observer.active, observer.reason
    observer.rates_settled()
    holds, _ = observer.guards.compiled()
    optimizer.param_groups[0][option] = 0.25
    assert not holds()


def test_hooks_end_it(watch):
    _, optimizer = stepped()
    optimizer.register_step_pre_hook(lambda *args: None)
    observer, _ = watch(lambda: optimizer.step())
    assert "hooks" in observer.reason


def test_other_methods_end_it(watch):
    p, optimizer = stepped()
    observer, _ = watch(lambda: optimizer.state_dict())
    assert observer.reason == "it calls Optimizer.state_dict"
    assert is_optimizer(optimizer)
    assert not is_optimizer(p)
