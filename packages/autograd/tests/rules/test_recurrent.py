"""First and second derivatives of recurrent layers."""

from __future__ import annotations

import pytest
from recurrent_inputs import inputs, others

from taeda._C import _nn
from taeda.autograd import gradcheck, gradgradcheck


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
