"""Steps on gradients that were not averaged."""

from __future__ import annotations

import pytest

import taeda
from taeda.nn.parallel import _guard
from taeda.optim import _hooks


class Owner:
    def __init__(self, params) -> None:
        self.params = {id(param) for param in params}

    def check_averaged(self, params) -> None:
        if params & self.params:
            raise RuntimeError("not averaged")


def test_steps_are_watched_while_somebody_asks_for_it():
    a, b = (taeda.ones(1, requires_grad=True) for _ in range(2))
    one, two = (taeda.optim.SGD([param], lr=1.0) for param in (a, b))
    owner, before = Owner([a]), len(_hooks._global_pre_hooks)
    _guard.watch(owner)
    _guard.watch(owner)
    with pytest.raises(RuntimeError, match="not averaged"):
        one.step()
    two.step()
    _guard.forget(owner)
    one.step()
    assert len(_hooks._global_pre_hooks) == before
