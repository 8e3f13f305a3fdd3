"""First and second derivatives of recurrent layers."""

from __future__ import annotations

import pytest

import taeda
from taeda._C import _nn
from taeda.autograd import grad, gradcheck, gradgradcheck


def inputs(steps, rows, units, dtype=taeda.float64):
    g = taeda.Generator().manual_seed(3)
    shapes = (steps, rows, 4 * units), (rows, units), (rows, units), (4 * units, units)
    return [taeda.randn(*s, generator=g, dtype=dtype).requires_grad_() for s in shapes]


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("sizes", [(3, 2, 3), (1, 1, 2)], ids=str)
def test_lstm(sizes, reverse):
    def output_and_cell(*given):
        return _nn._lstm(*given, reverse)[:2]

    assert gradcheck(output_and_cell, inputs(*sizes))
    assert gradgradcheck(output_and_cell, inputs(*sizes))
    assert gradcheck(lambda *given: _nn._lstm(*given, reverse)[1], inputs(*sizes))


@pytest.mark.parametrize("sizes", [(3, 14, 40), (2, 3, 200)], ids=str)
def test_the_kernel_equals_the_steps(sizes):
    given = inputs(*sizes)
    output, cell, _, _ = _nn._lstm(*given, False)
    total = (output * output).sum() + cell.sin().sum()
    fast = grad(total, given, retain_graph=True)
    slow = grad(total, given, create_graph=True)
    for a, b in zip(fast, slow, strict=True):
        taeda.testing.assert_close(a, b.detach(), rtol=1e-10, atol=1e-12)
