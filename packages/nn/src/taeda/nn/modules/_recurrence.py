"""The recurrences behind RNN, LSTM and GRU: one step, and a walk over the steps of one layer and
direction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import taeda
from taeda import Tensor
from taeda._core_api.calls import AUTOCAST, FLOAT32, call_autocast, hidden, lower_type
from taeda._core_api.operators import nn as _nn

from ..functional import dropout, linear

__all__ = [
    "STEPS",
    "Weights",
    "gru_step",
    "lstm_step",
    "relu_step",
    "tanh_step",
    "walk",
    "walk_layers",
]

States = tuple[Tensor, ...]  # (h,) or, for an LSTM, (h, c)


@dataclass
class Weights:
    """The weights of one layer and direction; biases and the projection may be missing."""

    input: Tensor
    hidden: Tensor
    input_bias: Tensor | None
    hidden_bias: Tensor | None
    projection: Tensor | None = None


# the input's share of the gates, computed beforehand
Step = Callable[[Tensor, States, Weights], States]


def tanh_step(share: Tensor, states: States, w: Weights) -> States:
    """h' = tanh(share + W h + b)."""
    return ((share + linear(states[0], w.hidden, w.hidden_bias)).tanh(),)


def relu_step(share: Tensor, states: States, w: Weights) -> States:
    """h' = relu(share + W h + b)."""
    return ((share + linear(states[0], w.hidden, w.hidden_bias)).relu(),)


def lstm_step(share: Tensor, states: States, w: Weights) -> States:
    """c' = sigmoid(f) c + sigmoid(i) tanh(g); h' = sigmoid(o) tanh(c'), projected if there is a
    projection.
    """
    hidden, cell = states
    i, f, g, o = (share + linear(hidden, w.hidden, w.hidden_bias)).chunk(4, -1)
    cell = f.sigmoid() * cell + i.sigmoid() * g.tanh()
    hidden = o.sigmoid() * cell.tanh()
    return (hidden if w.projection is None else linear(hidden, w.projection)), cell


def gru_step(share: Tensor, states: States, w: Weights) -> States:
    """n = tanh(share_n + sigmoid(r) (W_n h + b_n)); h' = n + sigmoid(z) (h - n)."""
    hidden = states[0]
    share_r, share_z, share_n = share.chunk(3, -1)
    own_r, own_z, own_n = linear(hidden, w.hidden, w.hidden_bias).chunk(3, -1)
    new = (share_n + (share_r + own_r).sigmoid() * own_n).tanh()
    return (new + (share_z + own_z).sigmoid() * (hidden - new),)


STEPS: dict[str, Step] = {
    "RNN_TANH": tanh_step,
    "RNN_RELU": relu_step,
    "LSTM": lstm_step,
    "GRU": gru_step,
}


def walk(
    step: Step,
    inputs: Tensor,
    states: States,
    weights: Weights,
    batch_sizes: Sequence[int] | None,
    reverse: bool,
) -> tuple[Tensor, States]:
    """All steps of (T, N, F), or of packed rows (sum of `batch_sizes`, F): outputs alike, and last states.

    Going in reverse starts with each sequence's own last step. Under autocast a GRU gives float32
    for float32, everything else the lower type.
    """
    low = lower_type(inputs.device.type)
    if low is not None:
        return _cast_walk(step, inputs, states, weights, batch_sizes, reverse, low)
    if batch_sizes is None and _is_plain(inputs, weights):
        return LAYERS[step](inputs, states, weights, reverse)
    shares = linear(inputs, weights.input, weights.input_bias)
    parts = list(shares.unbind(0) if batch_sizes is None else shares.split(list(batch_sizes)))
    outputs: list[Tensor] = []
    for share in reversed(parts) if reverse else parts:
        states = _advance(step, share, states, weights)
        outputs.append(states[0][: share.size(0)] if batch_sizes is not None else states[0])
    if reverse:
        outputs.reverse()
    join = taeda.stack if batch_sizes is None else taeda.cat
    return join(outputs), states


def walk_layers(
    mode: str,
    rows: Tensor,
    states: States,
    weights: Sequence[Weights],
    batch_sizes: Sequence[int] | None,
    ways: int,
    dropped: float,
) -> tuple[Tensor, States]:
    """All layers of `mode` over (T, N, F) or packed rows: outputs of the last, and last states of each.

    `weights` come layer by layer, `ways` (1 or 2) to a layer; `dropped` is the share that dropout
    takes between layers.
    """
    last: list[States] = []
    for start in range(0, len(weights), ways):
        outputs = []
        for way in range(ways):
            first = tuple(state[start + way] for state in states)
            output, after = walk(
                STEPS[mode], rows, first, weights[start + way], batch_sizes, bool(way)
            )
            outputs.append(output)
            last.append(after)
        rows = outputs[0] if ways == 1 else taeda.cat(outputs, -1)
        if dropped and start + ways < len(weights):
            rows = dropout(rows, dropped, True)
    return rows, tuple(taeda.stack(each) for each in zip(*last, strict=True))


def _cast_walk(
    step: Step,
    inputs: Tensor,
    states: States,
    weights: Weights,
    batch_sizes: Sequence[int] | None,
    reverse: bool,
    low: taeda.dtype,
) -> tuple[Tensor, States]:
    """In float32 inside, where a state adds up over all steps; what leaves has the type that
    autocast gives.
    """
    given = call_autocast(lambda *them: them, (inputs, *states, *_tensors(weights)), {}, FLOAT32)
    count = 1 + len(states)
    with hidden(AUTOCAST):
        output, last = walk(
            step, given[0], given[1:count], Weights(*given[count:]), batch_sizes, reverse
        )
    if (step is gru_step and inputs.dtype is not low) or output.dtype is not taeda.float32:
        return output, last
    return output.to(low), tuple(state.to(low) for state in last)


def _tensors(w: Weights) -> tuple[Tensor | None, ...]:
    return w.input, w.hidden, w.input_bias, w.hidden_bias, w.projection


def _is_plain(inputs: Tensor, w: Weights) -> bool:
    """Whether one kernel does all steps."""
    return (
        w.projection is None
        and inputs.numel() > 0
        and inputs.dtype in (taeda.float32, taeda.float64)
        and w.hidden.dtype is inputs.dtype
    )


# ---- all steps in one kernel ----


def _shares(inputs: Tensor, w: Weights) -> Tensor:
    """The inputs' part of the gates, with both biases."""
    bias = w.input_bias
    if bias is not None and w.hidden_bias is not None:
        bias = bias + w.hidden_bias
    return linear(inputs, w.input, bias)


def _last(output: Tensor, reverse: bool) -> Tensor:
    return output[0 if reverse else -1]


def _lstm_layer(inputs: Tensor, states: States, w: Weights, reverse: bool) -> tuple[Tensor, States]:
    output, cell, _, _ = _nn._lstm(_shares(inputs, w), states[0], states[1], w.hidden, reverse)
    return output, (_last(output, reverse), cell)


def _gru_layer(inputs: Tensor, states: States, w: Weights, reverse: bool) -> tuple[Tensor, States]:
    bias, last = w.input_bias, None
    if bias is not None and w.hidden_bias is not None:
        size = 2 * w.hidden.shape[1]  # the last gate's bias stands inside its product with r
        bias = bias + taeda.cat([w.hidden_bias[:size], taeda.zeros_like(w.hidden_bias[size:])])
        last = w.hidden_bias[size:]
    output, _ = _nn._gru(linear(inputs, w.input, bias), states[0], w.hidden, last, reverse)
    return output, (_last(output, reverse),)


def _plain_layer(relu: bool) -> Layer:
    def layer(inputs: Tensor, states: States, w: Weights, reverse: bool) -> tuple[Tensor, States]:
        output = _nn._rnn(_shares(inputs, w), states[0], w.hidden, relu, reverse)
        return output, (_last(output, reverse),)

    return layer


Layer = Callable[[Tensor, States, Weights, bool], tuple[Tensor, States]]
LAYERS: dict[Step, Layer] = {
    tanh_step: _plain_layer(relu=False),
    relu_step: _plain_layer(relu=True),
    lstm_step: _lstm_layer,
    gru_step: _gru_layer,
}


def _advance(step: Step, share: Tensor, states: States, weights: Weights) -> States:
    """One step of those sequences that take part in it; the states of the others stay."""
    count = share.size(0)
    if count == states[0].size(0):
        return step(share, states, weights)
    changed = step(share, tuple(state[:count] for state in states), weights)
    return tuple(
        taeda.cat([new, state[count:]]) for new, state in zip(changed, states, strict=True)
    )
