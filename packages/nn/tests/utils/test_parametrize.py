"""Parametrized tensors: registration, assignment, caching, copies, removal; ready-made ones."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import taeda
from taeda import nn
from taeda.nn.utils import parametrizations, parametrize


class Symmetric(nn.Module):
    def forward(self, x):
        return x.triu() + x.triu(1).T

    def right_inverse(self, x):
        return x.triu()


class Double(nn.Module):
    def forward(self, x):
        return x * 2


class Split(nn.Module):
    def forward(self, a, b):
        return a + b

    def right_inverse(self, x):
        return x / 4, x * 3 / 4


class Cut(nn.Module):
    def forward(self, x):
        return x[:1]


@pytest.fixture
def layer():
    made = nn.Linear(2, 2)
    nn.init.ones_(made.weight)
    return made


def test_the_tensor_is_computed(layer):
    parametrize.register_parametrization(layer, "weight", Symmetric())
    assert type(layer).__name__ == "ParametrizedLinear"
    assert isinstance(layer, nn.Linear)
    assert list(layer.state_dict()) == ["bias", "parametrizations.weight.original"]
    assert parametrize.is_parametrized(layer, "weight")
    assert not parametrize.is_parametrized(layer, "bias")
    assert parametrize.type_before_parametrizations(layer) is nn.Linear
    layer(taeda.ones(1, 2)).sum().backward()
    assert layer.parametrizations.weight.original.grad.tolist() == [[1, 2], [0, 1]]


def test_assignment_goes_through_the_inverse(layer):
    parametrize.register_parametrization(layer, "weight", Symmetric())
    layer.weight = taeda.tensor([[1.0, 2.0], [2.0, 5.0]])
    assert layer.weight.tolist() == [[1, 2], [2, 5]]
    parametrize.register_parametrization(layer, "bias", Double())
    with pytest.raises(RuntimeError, match="Double does not implement right_inverse"):
        layer.bias = taeda.ones(2)


def test_chains_apply_in_order(layer):
    parametrize.register_parametrization(layer, "weight", Symmetric())
    parametrize.register_parametrization(layer, "weight", Double())
    assert layer.weight.tolist() == [[2, 2], [2, 2]]


def test_several_originals(layer):
    parametrize.register_parametrization(layer, "weight", Split())
    names = [name for name, _ in layer.named_parameters()]
    assert names == [
        "bias",
        "parametrizations.weight.original0",
        "parametrizations.weight.original1",
    ]
    assert taeda.allclose(layer.weight, taeda.ones(2, 2))
    with pytest.raises(ValueError, match="sequence of tensors"):
        parametrize.remove_parametrizations(layer, "weight", leave_parametrized=False)
    parametrize.remove_parametrizations(layer, "weight")
    assert isinstance(layer.weight, nn.Parameter)


def test_cached_values_are_computed_once(layer):
    parametrize.register_parametrization(layer, "weight", Double())
    assert layer.weight is not layer.weight
    with parametrize.cached():
        assert layer.weight is layer.weight
    assert layer.weight is not layer.weight


def test_copies_are_independent_and_pickles_refused(layer):
    parametrize.register_parametrization(layer, "weight", Double())
    other = copy.deepcopy(layer)
    with taeda.no_grad():
        other.parametrizations.weight.original.fill_(5)
    assert other.weight.tolist() == [[10, 10], [10, 10]]
    assert layer.weight.tolist() == [[2, 2], [2, 2]]
    with pytest.raises(RuntimeError, match="only supported through state_dict"):
        pickle.dumps(layer)


@pytest.mark.parametrize(("leave", "value"), [(True, 2), (False, 1)])
def test_removal(layer, leave, value):
    parametrize.register_parametrization(layer, "weight", Double())
    original = layer.parametrizations.weight.original
    parametrize.remove_parametrizations(layer, "weight", leave_parametrized=leave)
    assert type(layer) is nn.Linear
    assert layer.weight is original
    assert layer.weight.tolist() == [[value] * 2] * 2
    assert set(layer.state_dict()) == {"weight", "bias"}


def test_refusals(layer):
    with pytest.raises(ValueError, match=r"does not have a parameter.*'nothing'"):
        parametrize.register_parametrization(layer, "nothing", Double())
    with pytest.raises(ValueError, match="may not change the shape"):
        parametrize.register_parametrization(layer, "weight", Cut())
    with pytest.raises(ValueError, match="does not have a parametrization on weight"):
        parametrize.remove_parametrizations(nn.Linear(1, 1), "weight")
    parametrize.register_parametrization(layer, "bias", Cut(), unsafe=True)
    assert layer.bias.shape == (1,)


def test_transfer(layer):
    parametrize.register_parametrization(layer, "weight", Double())
    other = nn.Linear(2, 2)
    parametrize.transfer_parametrizations_and_params(layer, other)
    assert other.weight.tolist() == [[2, 2], [2, 2]]


# ---- ready-made ----


@pytest.mark.parametrize("dim", [0, 1, None])
def test_weight_norm_separates_length_and_direction(dim):
    layer = nn.Linear(3, 2)
    before = layer.weight.detach().clone()
    parametrizations.weight_norm(layer, dim=dim)
    assert taeda.allclose(layer.weight, before, atol=1e-6)
    length = layer.parametrizations.weight.original0
    assert length.shape == {0: (2, 1), 1: (1, 3), None: ()}[dim]
    with taeda.no_grad():
        length.mul_(2)
    assert taeda.allclose(layer.weight, before * 2, atol=1e-6)


def test_weight_norm_reads_old_checkpoints():
    old, new = nn.Linear(3, 2), parametrizations.weight_norm(nn.Linear(3, 2))
    with pytest.warns(FutureWarning):
        nn.utils.weight_norm(old)
    new.load_state_dict(old.state_dict())
    x = taeda.randn(4, 3)
    assert taeda.allclose(new(x), old(x), atol=1e-6)


@pytest.mark.parametrize(
    "make",
    [lambda: nn.Linear(5, 3), lambda: nn.Conv2d(3, 4, 3), lambda: nn.ConvTranspose2d(4, 3, 3)],
)
def test_spectral_norm_makes_the_largest_singular_value_one(make):
    taeda.manual_seed(0)
    layer = parametrizations.spectral_norm(make(), n_power_iterations=20)
    for _ in range(3):
        weight = layer.weight
    dim = 1 if isinstance(layer, nn.ConvTranspose2d) else 0
    matrix = weight.detach().transpose(0, dim).reshape(weight.shape[dim], -1).numpy()
    assert np.linalg.svd(matrix, compute_uv=False)[0] == pytest.approx(1, abs=1e-3)
    layer.eval()
    assert taeda.equal(layer.weight, layer.weight)


def test_spectral_norm_refuses():
    with pytest.raises(ValueError, match="no parameter or buffer with name 'nothing'"):
        parametrizations.spectral_norm(nn.Linear(2, 2), "nothing")
    with pytest.raises(ValueError, match="n_power_iterations=0"):
        parametrizations.spectral_norm(nn.Linear(2, 2), n_power_iterations=0)


# ---- the older way ----


def test_weight_norm_by_hook():
    layer, x = nn.Linear(3, 2), taeda.randn(4, 3)
    before = layer(x)
    with pytest.warns(FutureWarning, match="parametrizations"):
        nn.utils.weight_norm(layer)
    assert list(layer.state_dict()) == ["bias", "weight_g", "weight_v"]
    assert taeda.allclose(layer(x), before, atol=1e-6)
    with pytest.warns(FutureWarning), pytest.raises(RuntimeError, match="two weight_norm hooks"):
        nn.utils.weight_norm(layer)
    nn.utils.remove_weight_norm(layer)
    assert set(layer.state_dict()) == {"weight", "bias"}
    assert taeda.allclose(layer(x), before, atol=1e-6)
    with pytest.raises(ValueError, match="weight_norm of 'weight' not found"):
        nn.utils.remove_weight_norm(layer)


def test_spectral_norm_by_hook():
    layer = nn.utils.spectral_norm(nn.Linear(5, 3), n_power_iterations=50)
    layer(taeda.ones(1, 5))
    assert np.linalg.svd(layer.weight.detach().numpy(), compute_uv=False)[0] == pytest.approx(
        1, abs=1e-3
    )
    assert list(layer.state_dict()) == ["bias", "weight_orig", "weight_u", "weight_v"]
    nn.utils.remove_spectral_norm(layer)
    assert set(layer.state_dict()) == {"weight", "bias"}
