"""Methods of pruning."""

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


def test_a_tensor_alone():
    kept = prune.L1Unstructured(0.5).prune(taeda.tensor([1.0, -2.0, 3.0, -4.0]))
    assert kept.abs().tolist() == [0, 0, 3, 4]


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda m: prune.l1_unstructured(m, "weight", 100), ValueError, "parameters to prune=12"),
        (lambda m: prune.l1_unstructured(m, "weight", "a"), TypeError, "Invalid type for amount: a"),
        (lambda m: prune.ln_structured(m, "weight", 1, 2, 5), IndexError, "Invalid index 5"),
        (lambda m: prune.PruningContainer().add_pruning_method(3), TypeError, "not a BasePruningMethod"),
    ],
)  # fmt: skip
def test_pruning_refuses(layer, call, error, text):
    with pytest.raises(error, match=text):
        call(layer)
