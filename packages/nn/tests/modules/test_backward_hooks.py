"""Hooks on the backward pass of a module."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.nn.modules import module as registry


def values(grads):
    return [None if g is None else g.tolist() for g in grads]


@pytest.fixture
def linear():
    layer = nn.Linear(2, 2, bias=False)
    nn.init.ones_(layer.weight)
    return layer


def test_order_and_replacement(linear):
    log = []
    handles = [
        registry.register_module_full_backward_pre_hook(lambda m, go: log.append("global pre")),
        registry.register_module_full_backward_hook(lambda m, gi, go: log.append("global")),
    ]
    try:
        linear.register_full_backward_pre_hook(lambda m, go: (log.append("pre"), (go[0] * 2,))[1])
        linear.register_full_backward_hook(lambda m, gi, go: (log.append("own"), (gi[0] * 10,))[1])
        x = taeda.ones(1, 2, requires_grad=True)
        linear(x).sum().backward()
    finally:
        for handle in handles:
            handle.remove()
    assert log == ["global pre", "pre", "global", "own"]
    assert x.grad.tolist() == [[40, 40]]
    assert linear.weight.grad.tolist() == [[2, 2], [2, 2]]


def test_one_call_for_all_inputs_and_outputs():
    class Two(nn.Module):
        def forward(self, x, text, y):
            return x * y, text, y + 1

    log = []
    net = Two()
    net.register_full_backward_hook(lambda m, gi, go: log.append((values(gi), values(go))))
    x = taeda.ones(2, requires_grad=True)
    product, text, _ = net(x, "text", taeda.full((2,), 3.0))
    assert text == "text"
    product.sum().backward()
    [(inputs, outputs)] = log
    assert inputs[0] == [3, 3]
    assert inputs[1] is None
    assert outputs[0] == [1, 1]
    assert outputs[1] is None


def test_without_an_input_that_wants_gradients(linear):
    log = []
    linear.register_full_backward_hook(lambda m, gi, go: log.append((gi, values(go))))
    with pytest.warns(UserWarning, match="no inputs require gradients"):
        linear(taeda.ones(1, 2)).sum().backward()
    assert log == [((None,), [[[1, 1]]])]


def test_a_wrong_number_of_gradients_is_refused():
    net = nn.Identity()
    net.register_full_backward_hook(lambda m, gi, go: (gi[0], gi[0]))
    y = net(taeda.ones(2, requires_grad=True))
    with pytest.raises(RuntimeError, match="got 2, but expected 1"):
        y.sum().backward()


def test_no_hook_runs_without_gradients(linear):
    linear.register_full_backward_hook(lambda *_: pytest.fail("called"))
    with taeda.no_grad():
        linear(taeda.ones(1, 2, requires_grad=True))


def test_old_and_full_hooks_exclude_each_other(linear):
    linear.register_full_backward_hook(lambda *_: None)
    with pytest.raises(RuntimeError, match="both regular backward hooks and full"):
        linear.register_backward_hook(lambda *_: None)


def test_old_hooks_see_the_last_operation():
    log = []
    net = nn.Sigmoid()
    net.register_backward_hook(lambda m, gi, go: log.append((values(gi), values(go))))
    net(taeda.zeros(1, requires_grad=True)).sum().backward()
    assert log == [([[0.25]], [[1.0]])]
