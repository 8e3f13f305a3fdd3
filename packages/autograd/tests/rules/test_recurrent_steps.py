"""Recurrent layers step by step: the same gradients as the kernels'."""

from __future__ import annotations

import pytest
from recurrent_inputs import inputs, others

import taeda
from taeda._C import _nn
from taeda.autograd import grad


@pytest.mark.parametrize("sizes", [(3, 14, 40), (2, 3, 200)], ids=str)
def test_the_kernel_equals_the_steps(sizes):
    given = inputs(*sizes)
    output, cell, _, _ = _nn._lstm(*given, False)
    total = (output * output).sum() + cell.sin().sum()
    fast = grad(total, given, retain_graph=True)
    slow = grad(total, given, create_graph=True)
    for a, b in zip(fast, slow, strict=True):
        taeda.testing.assert_close(a, b.detach(), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", ["gru", "tanh", "relu"])
@pytest.mark.parametrize("sizes", [(3, 14, 40), (2, 3, 200)], ids=str)
def test_the_other_kernels_equal_their_steps(name, sizes):
    given = others(*sizes, 3 if name == "gru" else 1)
    if name == "gru":
        output = _nn._gru(*given, True)[0]
    else:
        given.pop()
        output = _nn._rnn(*given, name == "relu", True)
    total = (output * output).sum()
    fast = grad(total, given, retain_graph=True)
    slow = grad(total, given, create_graph=True)
    for a, b in zip(fast, slow, strict=True):
        taeda.testing.assert_close(a, b.detach(), rtol=1e-9, atol=1e-11)
