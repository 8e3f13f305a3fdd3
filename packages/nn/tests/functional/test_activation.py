"""Activations by definition, their gradients and edges."""

from __future__ import annotations

import pytest

import taeda
from taeda.nn import functional as F

A, B = (taeda.randn(4, 3) for _ in range(2))


def test_gumbel_softmax():
    taeda.manual_seed(0)
    logits = taeda.tensor([1.0, 2.0, 0.5]).log().expand(3000, 3)
    drawn = F.gumbel_softmax(logits, hard=True)
    assert taeda.equal(drawn.sum(1), taeda.ones(3000))
    assert (drawn.mean(0) - taeda.tensor([1 / 3.5, 2 / 3.5, 0.5 / 3.5])).abs().max().item() < 0.03


def test_softmax_without_a_dimension_warns():
    with pytest.warns(UserWarning, match="Implicit dimension choice for softmax"):
        assert taeda.equal(F.softmax(A), A.softmax(1))
    with pytest.warns(UserWarning, match="log_softmax"):
        F.log_softmax(taeda.ones(2, 2, 2))


def test_glu_wants_halves():
    with pytest.raises(RuntimeError, match="dimension 1 is size 3"):
        F.glu(A)
    with pytest.raises(RuntimeError, match="scalars"):
        F.glu(taeda.tensor(1.0))
