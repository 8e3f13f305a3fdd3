"""The base of all optimizers: groups, hooks, saving, copying."""

from __future__ import annotations

import copy
import pickle
import warnings

import pytest

import taeda
from taeda.optim import SGD, Adam, Optimizer
from taeda.optim.optimizer import (
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
    required,
)


def leaf(*values):
    return taeda.tensor(values or (1.0, 2.0)).requires_grad_()


def with_gradient(*values):
    param = leaf(*values)
    param.grad = taeda.ones_like(param.detach())
    return param


# ---- groups ----


def test_one_group_of_tensors_with_the_defaults():
    a, b = leaf(), leaf()
    optimizer = SGD([a, b], lr=0.5)
    (group,) = optimizer.param_groups
    assert group["params"][0] is a
    assert group["params"][1] is b
    assert group["lr"] == 0.5
    assert group["momentum"] == 0


def test_groups_fill_in_what_they_do_not_say():
    optimizer = SGD([{"params": leaf(), "lr": 0.1}, {"params": [leaf()]}], lr=0.2)
    assert [group["lr"] for group in optimizer.param_groups] == [0.1, 0.2]


def test_an_iterator_of_parameters_is_enough():
    assert len(SGD(iter([leaf(), leaf()])).param_groups[0]["params"]) == 2


def test_names_are_kept_and_printed():
    optimizer = SGD([("w", leaf()), ("b", leaf())])
    assert optimizer.param_groups[0]["param_names"] == ["w", "b"]
    assert "param_names: ['w', 'b']" in repr(optimizer)
    assert optimizer.state_dict()["param_groups"][0]["param_names"] == ["w", "b"]


def shared():
    p = leaf()
    return [{"params": [p]}, {"params": [p]}]


REFUSED = {
    "a tensor": (lambda: SGD(leaf()), TypeError, "iterable of Tensors"),
    "nothing": (lambda: SGD([]), ValueError, "empty parameter list"),
    "a number": (lambda: SGD([1]), TypeError, "is int"),
    "a set": (lambda: SGD([{"params": {leaf()}}]), TypeError, "ordered collections"),
    "no leaf": (lambda: SGD([leaf() * 2]), ValueError, "non-leaf"),
    "shared": (lambda: SGD(shared()), ValueError, "more than one parameter group"),
    "some names": (lambda: SGD([("a", leaf()), leaf()]), ValueError, "names are missing"),
    "names in one group": (
        lambda: SGD([{"params": [("a", leaf())]}, {"params": [leaf()]}]),
        ValueError,
        "without names",
    ),
    "no dict": (lambda: SGD([leaf()]).add_param_group([leaf()]), TypeError, "must be a dict"),
    "no params": (lambda: SGD([{"lr": 1.0}]), KeyError, "params"),
    "required": (lambda: Optimizer([leaf()], {"rate": required}), ValueError, "rate"),
}


@pytest.mark.parametrize(("make", "error", "fact"), REFUSED.values(), ids=REFUSED)
def test_refused_groups(make, error, fact):
    with pytest.raises(error, match=fact):
        make()


def test_a_parameter_twice_in_a_group_warns():
    p = leaf()
    with pytest.warns(UserWarning, match="duplicate"):
        SGD([p, p])


def test_a_group_can_be_added_later():
    optimizer = SGD([leaf()], lr=0.1)
    p = with_gradient()
    optimizer.add_param_group({"params": p, "lr": 1.0})
    optimizer.step()
    assert p.tolist() == [0.0, 1.0]


# ---- gradients ----


def test_parameters_without_a_gradient_stay():
    still, moved = leaf(1.0), with_gradient(1.0)
    SGD([still, moved], lr=0.5).step()
    assert (still.item(), moved.item()) == (1.0, 0.5)


def test_zero_grad():
    p = with_gradient()
    optimizer = SGD([p])
    grad = p.grad
    optimizer.zero_grad(set_to_none=False)
    assert p.grad is grad
    assert grad.tolist() == [0.0, 0.0]
    optimizer.zero_grad()
    assert p.grad is None


def test_a_closure_runs_with_gradients_and_its_value_is_returned():
    p = leaf(3.0)
    optimizer = SGD([p], lr=0.5)

    def closure():
        optimizer.zero_grad()
        loss = (p * p).sum()
        loss.backward()
        return loss

    with taeda.no_grad():
        assert optimizer.step(closure).item() == 9.0
    assert p.item() == 0.0


def test_step_leaves_grad_mode_alone():
    SGD([with_gradient()]).step()
    assert taeda.is_grad_enabled()


def test_a_base_without_step_says_so():
    with pytest.raises(NotImplementedError, match="Optimizer"):
        Optimizer([leaf()], {}).step()


# ---- hooks ----


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


# ---- saving and loading ----


def test_state_is_saved_by_position():
    a, b = with_gradient(1.0), with_gradient(2.0)
    optimizer = SGD([{"params": [a]}, {"params": [b], "lr": 0.1}], lr=0.2, momentum=0.9)
    optimizer.step()
    saved = optimizer.state_dict()
    assert list(saved["state"]) == [0, 1]
    assert [group["params"] for group in saved["param_groups"]] == [[0], [1]]
    assert saved["state"][0]["momentum_buffer"] is optimizer.state[a]["momentum_buffer"]


def test_loading_goes_on_as_if_nothing_had_happened():
    def walk(optimizer, param, steps):
        for _ in range(steps):
            param.grad = param.detach() * 2
            optimizer.step()
        return param.tolist()

    whole = leaf(1.0, -2.0)
    wanted = walk(Adam([whole], lr=0.1), whole, 6)
    first = leaf(1.0, -2.0)
    optimizer = Adam([first], lr=0.1)
    walk(optimizer, first, 3)
    second = first.detach().clone().requires_grad_()
    fresh = Adam([second], lr=5.0)
    fresh.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    assert walk(fresh, second, 3) == wanted


def test_loaded_state_takes_the_dtype_of_its_parameter_but_step_does_not():
    p = with_gradient()
    optimizer = Adam([p])
    optimizer.step()
    double = leaf().to(taeda.float64).detach().requires_grad_()
    fresh = Adam([double])
    fresh.load_state_dict(optimizer.state_dict())
    state = fresh.state[double]
    assert state["exp_avg"].dtype == taeda.float64
    assert state["step"].dtype == taeda.float32


def test_loading_does_not_touch_the_dict_it_was_given():
    optimizer = SGD([leaf()], lr=0.5)
    saved = optimizer.state_dict()
    before = copy.deepcopy(saved)
    SGD([leaf()]).load_state_dict(saved)
    assert saved == before


@pytest.mark.parametrize(
    ("groups", "fact"),
    [(2, "different number of parameter groups"), (1, "doesn't match the size")],
)
def test_states_of_other_shapes_are_refused(groups, fact):
    saved = SGD([{"params": [leaf()]} for _ in range(groups)]).state_dict()
    with pytest.raises(ValueError, match=fact):
        SGD([leaf(), leaf()]).load_state_dict(saved)


def test_loading_keeps_names():
    optimizer = SGD([("a", leaf())])
    optimizer.load_state_dict(SGD([leaf()]).state_dict())
    assert optimizer.param_groups[0]["param_names"] == ["a"]


@pytest.mark.parametrize("again", [copy.deepcopy, lambda o: pickle.loads(pickle.dumps(o))])
def test_copies_step_like_the_original(again):
    p = with_gradient()
    optimizer = Adam([p], lr=0.1)
    optimizer.step()
    copied = again(optimizer)
    (twin,) = copied.param_groups[0]["params"]
    for o, q in ((optimizer, p), (copied, twin)):
        q.grad = taeda.ones(2)
        o.step()
    assert twin.tolist() == p.tolist()
    assert twin is not p


def test_options_missing_in_old_states_get_their_defaults():
    optimizer = Adam([leaf()])
    group = {"params": [0], "lr": 0.1, "betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 0}
    optimizer.load_state_dict({"state": {}, "param_groups": [group]})
    assert optimizer.param_groups[0]["amsgrad"] is False
    optimizer.step()


def test_numbers_as_steps_in_old_states_become_tensors():
    p = with_gradient()
    optimizer = Adam([p])
    optimizer.step()
    saved = optimizer.state_dict()
    saved["state"][0]["step"] = 1
    fresh = Adam([with_gradient()])
    fresh.load_state_dict(saved)
    fresh.step()
    (state,) = fresh.state.values()
    assert state["step"].item() == 2.0


def test_repr_lists_options_by_name():
    assert repr(SGD([leaf()], lr=0.5)) == (
        "SGD (\nParameter Group 0\n    dampening: 0\n    differentiable: False\n    foreach: None\n"
        "    fused: None\n    lr: 0.5\n    maximize: False\n    momentum: 0\n    nesterov: False\n"
        "    weight_decay: 0\n)"
    )


def test_no_warnings_in_an_ordinary_run():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        optimizer = SGD([with_gradient()])
        optimizer.step()
        optimizer.zero_grad()
