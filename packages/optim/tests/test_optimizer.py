"""The base of all optimizers: groups, hooks, saving, copying."""

from __future__ import annotations

import warnings

import pytest

import taeda
from taeda.optim import SGD, Optimizer
from taeda.optim.optimizer import (
    required,
)


def leaf(*values):
    return taeda.tensor(values or (1.0, 2.0)).requires_grad_()


def with_gradient(*values):
    param = leaf(*values)
    param.grad = taeda.ones_like(param.detach())
    return param


KINDS = (
    "SGD Adam AdamW RMSprop Adagrad Adadelta NAdam RAdam Adamax ASGD Rprop Adafactor Muon".split()
)


@pytest.mark.parametrize(
    "settings", [{}, {"foreach": False}, {"foreach": True}, {"fused": True}], ids=str
)
@pytest.mark.parametrize("kind", KINDS)
def test_a_step_writes_parameters_and_no_gradient(kind, settings):
    param = taeda.ones(2, 2, requires_grad=True)
    param.grad = taeda.ones(2, 2)
    try:
        optimizer = getattr(taeda.optim, kind)([param], lr=0.1, **settings)
    except TypeError:  # it has no such way
        assert settings and kind not in ("SGD", "Adam", "AdamW", "Adagrad")
        return
    for step in range(1, 3):
        optimizer.step()
        assert param.grad._version == 0
        assert param._version >= step


def test_a_gradient_that_a_graph_has_saved_may_be_used_for_a_step():
    param, factor = leaf(), leaf(3.0, 4.0)
    (param * 2).sum().backward(create_graph=True)
    loss = (param.grad * factor).sum()
    SGD([param], lr=0.1).step()
    loss.backward()
    assert factor.grad.tolist() == [2.0, 2.0]


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


def test_repr_lists_options_by_name():
    assert repr(SGD([leaf()], lr=0.5)) == (
        "SGD (\nParameter Group 0\n    dampening: 0\n    differentiable: False\n    foreach: None\n"
        "    fused: None\n    lr: 0.5\n    maximize: False\n    momentum: 0\n    nesterov: False\n"
        "    weight_decay: 0\n)"
    )


def test_repr_has_an_empty_line_between_groups():
    text = repr(SGD([{"params": [leaf()]}, {"params": [leaf()]}]))
    assert text.count("\n\n") == 1 and "weight_decay: 0\n\nParameter Group 1\n" in text


@pytest.mark.parametrize("foreach", [None, False, True])
def test_a_rate_in_a_tensor_stays_that_tensor(foreach):
    rate, param = taeda.tensor(0.5), with_gradient()
    optimizer = SGD([param], lr=rate, foreach=foreach)
    assert optimizer.param_groups[0]["lr"] is rate
    optimizer.step()
    rate.fill_(1.0)
    optimizer.step()
    assert param.tolist() == [-0.5, 0.5]


def test_no_warnings_in_an_ordinary_run():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        optimizer = SGD([with_gradient()])
        optimizer.step()
        optimizer.zero_grad()
