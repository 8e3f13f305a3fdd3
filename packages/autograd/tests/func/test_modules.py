"""Modules in transforms."""

from __future__ import annotations

import pytest
from transform_inputs import DTYPE, close, values

import taeda
from taeda import func
from taeda.func import grad


def test_functional_call():
    nn = pytest.importorskip("taeda.nn", reason="functional_call calls a module of taeda-nn")
    module = nn.Linear(2, 1).double()
    weight, bias = taeda.ones(1, 2, dtype=DTYPE), taeda.zeros(1, dtype=DTYPE)
    x = values(1, 2)

    def loss(named):
        return func.functional_call(module, named, (x,)).sum()

    slopes = grad(loss)({"weight": weight, "bias": bias})
    close(slopes["weight"], [[1, 2]])
    close(slopes["bias"], [1])
    assert func.functional_call(module, [{"weight": weight}, {"bias": bias}], x).item() == 3
    with pytest.raises(ValueError, match="weight appears in multiple dictionaries"):
        func.functional_call(module, [{"weight": weight}, {"weight": bias}], x)
    with pytest.raises(ValueError, match="to be a dict, or a list/tuple of dicts"):
        func.functional_call(module, 3, x)


def test_stack_module_state():
    nn = pytest.importorskip("taeda.nn", reason="it stacks modules of taeda-nn")
    models = [nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3)) for _ in range(4)]
    parameters, buffers = func.stack_module_state(models)
    assert parameters["0.weight"].shape == (4, 3, 2) and parameters["0.weight"].is_leaf
    assert parameters["0.weight"].requires_grad
    assert taeda.equal(parameters["0.bias"][2], models[2][0].bias)
    assert buffers["1.running_mean"].shape == (4, 3) and not buffers["1.running_mean"].requires_grad
    models[1].eval()
    with pytest.raises(RuntimeError, match="same training/eval mode"):
        func.stack_module_state(models)
    with pytest.raises(RuntimeError, match="same class"):
        func.stack_module_state([nn.ReLU(), nn.Tanh()])
    with pytest.raises(RuntimeError, match="at least one model"):
        func.stack_module_state([])
    mixed = [nn.Linear(1, 1), nn.Linear(1, 1).requires_grad_(False)]
    with pytest.raises(
        RuntimeError, match=r"weight from each model to have the same \.requires_grad"
    ):
        func.stack_module_state(mixed)


def test_batch_norms_without_running_statistics():
    nn = pytest.importorskip("taeda.nn", reason="it changes modules of taeda-nn")
    model = nn.Sequential(nn.Linear(2, 3), nn.Sequential(nn.BatchNorm1d(3))).eval()
    assert func.replace_all_batch_norm_modules_(model) is model
    assert list(model.buffers()) == [] and not model[1][0].track_running_stats
    made = model(taeda.rand(8, 2))
    assert taeda.allclose(made.mean(0), taeda.zeros(3), atol=1e-5)
