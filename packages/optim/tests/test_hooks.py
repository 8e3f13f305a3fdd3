"""Functions that an optimizer calls around its steps, its saving and its loading."""

from __future__ import annotations

import pytest

import taeda
from taeda.optim import SGD
from taeda.optim.optimizer import (
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)


def leaf(*values):
    return taeda.tensor(values or (1.0, 2.0)).requires_grad_()


def test_step_hooks_run_around_the_step_in_order():
    log = []
    optimizer = SGD([leaf()])
    handles = [
        register_optimizer_step_pre_hook(lambda *a: log.append("all before")),
        optimizer.register_step_pre_hook(lambda o, args, kwargs: log.append("before")),
        optimizer.register_step_post_hook(lambda o, args, kwargs: log.append((len(args), kwargs))),
        register_optimizer_step_post_hook(lambda *a: log.append("all after")),
    ]
    optimizer.step(closure=None)
    assert log == ["all before", "before", (1, {"closure": None}), "all after"]
    for handle in handles:
        handle.remove()
    optimizer.step()
    assert len(log) == 4


def test_a_pre_hook_may_replace_the_arguments():
    optimizer = SGD([leaf()])
    optimizer.register_step_pre_hook(lambda o, args, kwargs: ((o,), {"closure": lambda: 5}))
    assert optimizer.step() == 5
    optimizer.register_step_pre_hook(lambda o, args, kwargs: 3)
    with pytest.raises(RuntimeError, match="must return None or a tuple"):
        optimizer.step()


def test_hooks_of_a_subclass_run_once_when_it_calls_its_base():
    class Twice(SGD):
        def step(self, closure=None):
            super().step()
            return super().step()

    log = []
    optimizer = Twice([leaf()])
    optimizer.register_step_post_hook(lambda *a: log.append(1))
    optimizer.step()
    optimizer.step()
    assert log == [1, 1]


def test_hooks_of_saving_and_loading():
    log = []
    optimizer = SGD([leaf()])
    optimizer.register_state_dict_pre_hook(lambda o: log.append("pre"))
    optimizer.register_state_dict_post_hook(lambda o, d: {**d, "more": 1})
    optimizer.register_state_dict_post_hook(lambda o, d: log.append(sorted(d)), prepend=True)
    optimizer.register_load_state_dict_pre_hook(
        lambda o, d: {**d, "param_groups": [{**d["param_groups"][0], "lr": 7.0}]}
    )
    optimizer.register_load_state_dict_post_hook(lambda o: log.append("loaded"))
    saved = optimizer.state_dict()
    assert saved["more"] == 1
    optimizer.load_state_dict(saved)
    assert optimizer.param_groups[0]["lr"] == 7.0
    assert log == ["pre", ["param_groups", "state"], "loaded"]


def test_a_wrapper_that_never_calls_init_has_hooks_all_the_same():
    class Wrapper(taeda.optim.Optimizer):
        def __init__(self, inner):
            self._patch_step_function()
            self.inner = inner

    # not the class body's: nothing is around it yet
    Wrapper.step = lambda self: told.append("step")
    told = []
    wrapper = Wrapper(None)
    wrapper.register_step_pre_hook(lambda *given: told.append("before"))
    wrapper.register_step_post_hook(lambda *given: told.append("after"))
    Wrapper(None).step()
    wrapper.step()
    assert told == ["step", "before", "step", "after"]
