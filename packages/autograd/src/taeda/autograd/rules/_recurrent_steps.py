"""Recurrent layers and their gradients step by step, in operations, so that they can be differentiated again.

Each gives the outputs, the gradients of the share and of whatever else enters the products, and of
the first states.
"""

from __future__ import annotations

import taeda
from taeda import Tensor

__all__ = ["gru_by_steps", "lstm_by_steps", "rnn_by_steps"]

_Steps = dict[int, Tensor]  # by time


def _order(steps: int, reverse: bool) -> list[int]:
    return list(range(steps))[::-1] if reverse else list(range(steps))


def _stack(steps: _Steps) -> Tensor:
    return taeda.stack([steps[t] for t in range(len(steps))])


# ---- LSTM ----

_Gates = tuple[Tensor, ...]  # i, f, g, o, and the cell's state before and after


def _lstm_forward(
    share: Tensor, hidden: Tensor, cell: Tensor, weight: Tensor, reverse: bool
) -> tuple[Tensor, dict[int, _Gates]]:
    outputs: _Steps = {}
    gates: dict[int, _Gates] = {}
    for t in _order(share.shape[0], reverse):
        i, f, g, o = (share[t] + hidden.mm(weight.t())).chunk(4, -1)
        i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
        after = f * cell + i * g
        gates[t] = (i, f, g, o, cell, after)
        cell = after
        outputs[t] = hidden = o * cell.tanh()
    return _stack(outputs), gates


def lstm_by_steps(
    by_output: Tensor,
    by_cell: Tensor,
    share: Tensor,
    hidden: Tensor,
    cell: Tensor,
    weight: Tensor,
    reverse: bool,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """(output, by share, by hidden, by cell)."""
    output, gates = _lstm_forward(share, hidden, cell, weight, reverse)
    by_share: _Steps = {}
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
    return output, _stack(by_share), by_hidden, by_cell


# ---- GRU ----


def _gru_forward(
    share: Tensor, hidden: Tensor, weight: Tensor, bias: Tensor | None, reverse: bool
) -> tuple[Tensor, dict[int, _Gates]]:
    outputs: _Steps = {}
    gates: dict[int, _Gates] = {}
    for t in _order(share.shape[0], reverse):
        share_r, share_z, share_n = share[t].chunk(3, -1)
        own_r, own_z, own_n = hidden.mm(weight.t()).chunk(3, -1)
        own_n = own_n if bias is None else own_n + bias
        r, z = (share_r + own_r).sigmoid(), (share_z + own_z).sigmoid()
        n = (share_n + r * own_n).tanh()
        gates[t] = (r, z, n, own_n, hidden)
        outputs[t] = hidden = n + z * (hidden - n)
    return _stack(outputs), gates


def gru_by_steps(
    by_output: Tensor,
    share: Tensor,
    hidden: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    reverse: bool,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """(output, by share, by the products with the weight, by hidden)."""
    output, gates = _gru_forward(share, hidden, weight, bias, reverse)
    by_share: _Steps = {}
    products: _Steps = {}
    by_hidden = taeda.zeros_like(hidden)
    for t in _order(share.shape[0], not reverse):
        r, z, n, own_n, before = gates[t]
        slope = by_output[t] + by_hidden
        by_n = slope * (1 - z) * (1 - n * n)
        by_r, by_z = by_n * own_n * r * (1 - r), slope * (before - n) * z * (1 - z)
        by_share[t] = taeda.cat((by_r, by_z, by_n), -1)
        products[t] = taeda.cat((by_r, by_z, by_n * r), -1)
        by_hidden = products[t].mm(weight) + slope * z
    return output, _stack(by_share), _stack(products), by_hidden


# ---- RNN ----


def rnn_by_steps(
    by_output: Tensor, share: Tensor, hidden: Tensor, weight: Tensor, relu: bool, reverse: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """(output, by share, by hidden)."""
    outputs: _Steps = {}
    for t in _order(share.shape[0], reverse):
        total = share[t] + (outputs[t + 1 if reverse else t - 1] if outputs else hidden).mm(
            weight.t()
        )
        outputs[t] = total.relu() if relu else total.tanh()
    by_share: _Steps = {}
    by_hidden = taeda.zeros_like(hidden)
    for t in _order(share.shape[0], not reverse):
        after, slope = outputs[t], by_output[t] + by_hidden
        by_share[t] = slope.where(after > 0, 0) if relu else slope * (1 - after * after)
        by_hidden = by_share[t].mm(weight)
    return _stack(outputs), _stack(by_share), by_hidden
