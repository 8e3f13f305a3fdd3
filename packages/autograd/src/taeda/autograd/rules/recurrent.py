"""Derivatives of recurrent layers: a fused kernel, or where the gradient is itself to be differentiated, step by step."""

from __future__ import annotations

import taeda
from taeda import Tensor
from taeda._C import _nn

from ._registry import not_differentiable, rule_joint


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
    if taeda.is_grad_enabled():
        by_share, by_hidden, first = _by_steps(
            by_output, by_cell, share, hidden, cell, weight, reverse
        )
        output = _forward(share, hidden, cell, weight, reverse)[0]
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


# ---- in other operations, so that they can be differentiated again ----

_Gates = tuple[Tensor, ...]  # i, f, g, o, and the cell's state before and after


def _order(steps: int, reverse: bool) -> list[int]:
    return list(range(steps))[::-1] if reverse else list(range(steps))


def _forward(
    share: Tensor, hidden: Tensor, cell: Tensor, weight: Tensor, reverse: bool
) -> tuple[Tensor, dict[int, _Gates]]:
    outputs: dict[int, Tensor] = {}
    gates: dict[int, _Gates] = {}
    for t in _order(share.shape[0], reverse):
        i, f, g, o = (share[t] + hidden.mm(weight.t())).chunk(4, -1)
        i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
        after = f * cell + i * g
        gates[t] = (i, f, g, o, cell, after)
        cell = after
        outputs[t] = hidden = o * cell.tanh()
    return taeda.stack([outputs[t] for t in range(share.shape[0])]), gates


def _by_steps(
    by_output: Tensor,
    by_cell: Tensor,
    share: Tensor,
    hidden: Tensor,
    cell: Tensor,
    weight: Tensor,
    reverse: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    gates = _forward(share, hidden, cell, weight, reverse)[1]
    by_share: dict[int, Tensor] = {}
    by_hidden = taeda.zeros_like(hidden)
    for t in _order(share.shape[0], not reverse):
        i, f, g, o, before, after = gates[t]
        slope, squashed = by_output[t] + by_hidden, after.tanh()
        by_cell = by_cell + slope * o * (1 - squashed * squashed)
        sums = (
            by_cell * g * i * (1 - i),
            by_cell * before * f * (1 - f),
            by_cell * i * (1 - g * g),
            slope * squashed * o * (1 - o),
        )
        by_share[t] = taeda.cat(sums, -1)
        by_cell, by_hidden = by_cell * f, by_share[t].mm(weight)
    return taeda.stack([by_share[t] for t in range(share.shape[0])]), by_hidden, by_cell


not_differentiable(
    "_lstm_backward", "an LSTM whose gradient is differentiated again goes another way"
)
