"""Parametrized tensors: registration, assignment, caching, copies, removal; ready-made ones."""

from __future__ import annotations

import copy
import pickle

import pytest

import taeda
from taeda import nn
from taeda.nn.utils import parametrize


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


# ---- the older way ----
