"""Derivatives of recurrent layers: a fused kernel, or where the gradient is itself to be
differentiated, step by step.

Step by step means in operations, whose own derivatives then come by themselves.
"""

from __future__ import annotations

import taeda
from taeda import Tensor
from taeda._core_api.operators import nn as _nn

from ._recurrent_steps import gru_by_steps, lstm_by_steps, rnn_by_steps
from ._registry import differentiated, not_differentiable
from ._registry import rule_joint_as_is as rule_joint


@rule_joint("_lstm", differentiable_results=2)
def _lstm(
    grads: tuple[Tensor | None, ...],
    needs: tuple[bool, ...],
    share: Tensor,
    hidden: Tensor,
    cell: Tensor,
    weight: Tensor,
    reverse: bool,
    result0: Tensor,
    result2: Tensor,
    result3: Tensor,
) -> tuple[Tensor | None, ...]:
    by_output = taeda.zeros_like(result0) if grads[0] is None else grads[0]
    by_cell = taeda.zeros_like(cell) if grads[1] is None else grads[1]
    if differentiated():
        output, by_share, by_hidden, first = lstm_by_steps(
            by_output, by_cell, share, hidden, cell, weight, reverse
        )
    else:
        by_share, by_hidden, first = _nn._lstm_backward(
            by_output, by_cell, cell, weight, result2, result3, reverse
        )
        output = result0
    by_weight = _weight(by_share, output, hidden, reverse) if needs[3] else None
    return by_share, by_hidden, first, by_weight


def _weight(by_share: Tensor, output: Tensor, hidden: Tensor, reverse: bool) -> Tensor:
    """Every step's gradient of the gates times the hidden state it began with."""
    if by_share.shape[0] == 0:
        return by_share.new_zeros(by_share.shape[2], hidden.shape[1])
    later, first = (by_share[:-1], by_share[-1]) if reverse else (by_share[1:], by_share[0])
    before = output[1:] if reverse else output[:-1]
    by_first = first.t().mm(hidden)
    return taeda.addmm(by_first, later.flatten(0, 1).t(), before.flatten(0, 1))


@rule_joint("_gru", differentiable_results=1)
def _gru(
    grads: tuple[Tensor | None, ...],
    needs: tuple[bool, ...],
    share: Tensor,
    hidden: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    reverse: bool,
    result0: Tensor,
    result1: Tensor,
) -> tuple[Tensor | None, ...]:
    by_output = taeda.zeros_like(result0) if grads[0] is None else grads[0]
    if differentiated():
        output, by_share, products, first = gru_by_steps(
            by_output, share, hidden, weight, bias, reverse
        )
    else:
        by_share, products, first = _nn._gru_backward(
            by_output, hidden, weight, result0, result1, reverse
        )
        output = result0
    by_weight = _weight(products, output, hidden, reverse) if needs[2] else None
    by_bias = products[:, :, 2 * hidden.shape[1] :].sum((0, 1)) if needs[3] else None
    return by_share, first, by_weight, by_bias


@rule_joint("_rnn", differentiable_results=1)
def _rnn(
    grads: tuple[Tensor | None, ...],
    needs: tuple[bool, ...],
    share: Tensor,
    hidden: Tensor,
    weight: Tensor,
    relu: bool,
    reverse: bool,
    result: Tensor,
) -> tuple[Tensor | None, ...]:
    (by_output,) = grads
    assert by_output is not None
    if differentiated():
        output, by_share, first = rnn_by_steps(by_output, share, hidden, weight, relu, reverse)
    else:
        by_share, first = _nn._rnn_backward(by_output, weight, result, relu, reverse)
        output = result
    by_weight = _weight(by_share, output, hidden, reverse) if needs[2] else None
    return by_share, first, by_weight


not_differentiable(
    "_lstm_backward", "an LSTM whose gradient is differentiated again goes another way"
)
not_differentiable("_gru_backward", "a GRU whose gradient is differentiated again goes another way")
not_differentiable(
    "_rnn_backward", "a recurrence whose gradient is differentiated again goes another way"
)
