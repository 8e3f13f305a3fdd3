"""Parameters as one vector, and back."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.nn import utils


def test_vectors_of_parameters():
    model = nn.Linear(2, 1)
    vector = utils.parameters_to_vector(model.parameters())
    assert vector.shape == (3,)
    utils.vector_to_parameters(taeda.tensor([1.0, 2.0, 3.0]), model.parameters())
    assert model.weight.tolist() == [[1, 2]]
    assert model.bias.tolist() == [3]
    with pytest.raises(TypeError, match="got: int"):
        utils.vector_to_parameters(3, model.parameters())
    with pytest.raises(RuntimeError):
        utils.vector_to_parameters(taeda.ones(1), model.parameters())
