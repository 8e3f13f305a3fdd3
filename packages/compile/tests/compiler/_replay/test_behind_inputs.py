"""A backward inside of the program goes on behind inputs that were computed outside."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn

outside = taeda.ones(3, requires_grad=True)
computed = outside * 2
layer = nn.Linear(3, 3)


def method(x):
    loss = (x * 2).square().mean()
    loss.backward()
    return loss.detach()


def function(x):
    loss = (x * 2).square().mean()
    taeda.autograd.backward(loss)
    return loss.detach()


def retained(x):
    loss = (x * 2 + computed).square().mean()
    loss.backward(retain_graph=True)
    return loss.detach()


def of_a_layer(x):
    loss = layer(x).square().mean()
    loss.backward()
    return [loss.detach(), x]


def with_a_tail(x):
    loss = layer(x).square().mean()
    loss.backward()
    layer.zero_grad()
    return loss.item()


def called(f):
    found = []
    outside.grad = None
    layer.zero_grad()
    for n in range(6):
        leaf = taeda.full((3,), float(n), requires_grad=True)
        f(leaf * 1)
        found.append(leaf.grad.tolist())
    return found, None if outside.grad is None else outside.grad.tolist()


@pytest.mark.parametrize("program", [method, function, retained, of_a_layer, with_a_tail])
def test_what_is_behind_an_input_gets_its_gradient(program):
    assert called(taeda.compile(program)) == called(program)


def test_inputs_that_nobody_computed_leave_it_a_graph():
    f = taeda.compile(of_a_layer)
    for _ in range(4):
        f(taeda.ones(3))
    assert any(t.trusted for ts in f.__taeda_compiled__.traces.values() for t in ts)
