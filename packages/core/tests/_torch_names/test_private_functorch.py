"""Modules as functions of their parameters."""

import pytest

import taeda
from taeda._torch_names import private_functorch as functorch

nn = pytest.importorskip("taeda.nn")


def test_functional_module_computes_with_given_parameters():
    model = nn.Linear(2, 1)
    function, params = functorch.functional(model)
    x = taeda.ones(3, 2)
    assert taeda.equal(function(params, x), model(x))
    assert function([taeda.zeros_like(p) for p in params], x).tolist() == [[0.0]] * 3
    assert all(p.requires_grad for p in params)
    assert not functorch.functional(model, disable_autograd_tracking=True)[1][0].requires_grad


def test_buffers_are_arguments_too():
    model = nn.BatchNorm1d(2).eval()
    with pytest.raises(RuntimeError, match="make_functional_with_buffers"):
        functorch.functional(model)
    function, params, buffers = functorch.functional_with_buffers(model)
    x = taeda.ones(3, 2)
    assert taeda.equal(function(params, buffers, x), model(x))
    moved = [taeda.ones(2), *buffers[1:]]
    assert function(params, moved, x).abs().max().item() == 0
