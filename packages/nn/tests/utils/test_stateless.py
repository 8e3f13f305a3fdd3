"""Calls of a module with other tensors."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.nn.utils import stateless
from taeda.nn.utils.stateless import functional_call


def test_other_tensors_for_one_call():
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2, affine=False).eval())
    before = model[0].weight
    weight = taeda.eye(2, requires_grad=True)
    given = {"0.weight": weight, "0.bias": taeda.zeros(2), "1.running_mean": taeda.ones(2)}
    result = functional_call(model, given, taeda.ones(1, 2))
    assert result.abs().max().item() < 1e-4
    assert model[0].weight is before
    result.sum().backward()
    assert weight.grad is not None
    assert before.grad is None


def test_tied_names_follow():
    model = nn.Sequential(nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False))
    model[1].weight = model[0].weight
    three = taeda.full((1, 1), 3.0)
    x = taeda.ones(1, 1)
    assert functional_call(model, {"0.weight": three}, x).item() == 9
    once = functional_call(model, {"0.weight": three}, x, tie_weights=False).item()
    assert once == pytest.approx(3 * model[0].weight.item())
    with pytest.raises(ValueError, match="which are tied"):
        functional_call(model, {"0.weight": three, "1.weight": three + 1}, x)


def test_strict_calls_and_errors_leave_the_module_as_it_was():
    model = nn.Linear(2, 2)
    before = model.weight
    with pytest.raises(RuntimeError, match=r"missing key\(s\) \['bias'\]"):
        functional_call(model, {"weight": taeda.eye(2)}, taeda.ones(1, 2), strict=True)
    with pytest.raises(RuntimeError):
        functional_call(model, {"weight": taeda.ones(3, 3)}, taeda.ones(1, 2))
    assert model.weight is before is model._parameters["weight"]


def test_block_with_other_tensors():
    model = nn.Sequential(nn.Linear(1, 1, bias=False))
    before = model[0].weight
    with stateless._reparametrize_module(model, {"0.weight": taeda.full((1, 1), 3.0)}):
        assert model(taeda.ones(1, 1)).item() == 3
    assert model[0].weight is before
    with (
        pytest.raises(RuntimeError, match="unexpected"),
        stateless._reparametrize_module(model, {"1.weight": before}, strict=True),
    ):
        pass
