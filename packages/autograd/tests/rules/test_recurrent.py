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

    assert gradcheck(output_and_cell, inputs(*sizes), check_forward_ad=True)
    assert gradgradcheck(output_and_cell, inputs(*sizes), check_fwd_over_rev=True)
    assert gradcheck(
        lambda *given: _nn._lstm(*given, reverse)[1], inputs(*sizes), check_forward_ad=True
    )


@pytest.mark.parametrize("sizes", [(3, 14, 40), (2, 3, 200)], ids=str)
def test_the_kernel_equals_the_steps(sizes):
    given = inputs(*sizes)
    output, cell, _, _ = _nn._lstm(*given, False)
    total = (output * output).sum() + cell.sin().sum()
    fast = grad(total, given, retain_graph=True)
    slow = grad(total, given, create_graph=True)
    for a, b in zip(fast, slow, strict=True):
        taeda.testing.assert_close(a, b.detach(), rtol=1e-10, atol=1e-12)


def others(steps, rows, units, gates):
    """(share, hidden, weight, bias of the last gate)"""
    g = taeda.Generator().manual_seed(5)
    shapes = (steps, rows, gates * units), (rows, units), (gates * units, units), (units,)
    return [taeda.randn(*s, generator=g, dtype=taeda.float64).requires_grad_() for s in shapes]


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("sizes", [(3, 2, 3), (1, 1, 2)], ids=str)
def test_gru(sizes, reverse):
    def output(*given):
        return _nn._gru(*given, reverse)[0]

    given = others(*sizes, 3)
    assert gradcheck(output, given, check_forward_ad=True)
    assert gradgradcheck(output, given, check_fwd_over_rev=True)
    assert gradcheck(lambda *g: _nn._gru(*g, None, reverse)[0], given[:3], check_forward_ad=True)


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
def test_rnn(reverse, relu):
    given = others(3, 2, 3, 1)[:3]
    assert gradcheck(lambda *g: _nn._rnn(*g, relu, reverse), given, check_forward_ad=True)
    assert gradgradcheck(lambda *g: _nn._rnn(*g, relu, reverse), given, check_fwd_over_rev=True)


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
