"""Pruning by function."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.nn.utils import prune


@pytest.fixture
def layer():
    made = nn.Linear(4, 3)
    made.weight.data = taeda.arange(12.0).reshape(3, 4) - 5
    return made


def zeros(tensor):
    return (tensor == 0).nonzero().tolist()


def test_the_smallest_elements(layer):
    prune.l1_unstructured(layer, "weight", 3)
    assert zeros(layer.weight) == [[1, 0], [1, 1], [1, 2]]
    assert [name for name, _ in layer.named_parameters()] == ["bias", "weight_orig"]
    assert [name for name, _ in layer.named_buffers()] == ["weight_mask"]
    assert prune.is_pruned(nn.Sequential(layer))


def test_pruning_again_combines(layer):
    prune.l1_unstructured(layer, "weight", 3)
    prune.ln_structured(layer, "weight", 1, n=2, dim=1)
    assert int((layer.weight_mask == 0).sum()) == 5
    [hook] = layer._forward_pre_hooks.values()
    assert isinstance(hook, prune.PruningContainer)
    assert [type(m).__name__ for m in hook] == ["L1Unstructured", "LnStructured"]
    assert len(hook) == 2
    assert hook[0].amount == 3


def test_gradients_flow_to_what_is_left(layer):
    prune.custom_from_mask(layer, "weight", taeda.eye(3, 4))
    layer(taeda.ones(1, 4)).sum().backward()
    assert taeda.equal(layer.weight_orig.grad, taeda.eye(3, 4))


def test_remove_makes_it_final(layer):
    prune.l1_unstructured(layer, "weight", 0.25)
    pruned = layer.weight.detach().clone()
    prune.remove(layer, "weight")
    assert isinstance(layer.weight, nn.Parameter)
    assert taeda.equal(layer.weight, pruned)
    assert not prune.is_pruned(layer)
    with pytest.raises(ValueError, match="has to be pruned before"):
        prune.remove(layer, "weight")


def test_random_methods(layer):
    prune.random_unstructured(layer, "weight", 5)
    assert int((layer.weight_mask == 0).sum()) == 5
    other = prune.random_structured(nn.Linear(4, 3), "weight", 1, dim=0)
    assert sorted(other.weight_mask.sum(1).tolist()) == [0, 4, 4]
    same = prune.identity(nn.Linear(4, 3), "weight")
    assert same.weight_mask.min().item() == 1


def test_all_parameters_together():
    net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    nn.init.constant_(net[0].weight, 0.1)
    nn.init.constant_(net[1].weight, 5.0)
    pairs = [(net[0], "weight"), (net[1], "weight")]
    prune.global_unstructured(pairs, prune.L1Unstructured, amount=0.5)
    assert net[0].weight.abs().sum().item() == 0
    assert (net[1].weight == 5).all()


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda m: prune.l1_unstructured(m, "weight", 1.5), ValueError, "amount=1.5"),
        (lambda m: prune.l1_unstructured(m, "weight", -1), ValueError, "amount=-1"),
        (lambda m: prune.ln_structured(m, "bias", 1, 2, 0), ValueError, "multidimensional"),
        (lambda m: prune.global_unstructured([(m, "weight")], prune.RandomStructured, amount=1),
            TypeError, "unstructured"),
    ],
)  # fmt: skip
def test_pruning_refuses(layer, call, error, text):
    with pytest.raises(error, match=text):
        call(layer)
