"""`taeda.lstm`, `taeda.gru` and their like: recurrent layers and cells as functions of their weights.

They take the weights in one list, layer by layer, in the order of `nn.LSTM`'s `all_weights`. Where
the second argument is the sizes of packed steps, the first is the data of a PackedSequence.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from taeda import Tensor
from taeda._core_api.doors import asks

from .functional import linear
from .modules._recurrence import (
    States,
    Step,
    Weights,
    gru_step,
    lstm_step,
    relu_step,
    tanh_step,
    walk_layers,
)

__all__ = [
    "gru",
    "gru_cell",
    "lstm",
    "lstm_cell",
    "rnn_relu",
    "rnn_relu_cell",
    "rnn_tanh",
    "rnn_tanh_cell",
]


@asks
def lstm(
    input: Tensor,
    hx: Sequence[Tensor] | Tensor,
    params: Sequence[Tensor],
    has_biases: bool | Sequence[Tensor],
    num_layers: Any,
    dropout: float,
    train: Any,
    bidirectional: bool,
    batch_first: bool = False,
) -> tuple[Tensor, Tensor, Tensor]:
    """LSTM layers: (output, h, c) from input (T, N, F), states (h, c) of (layers, N, H) each, and
    the weights.

    Packed: `lstm(data, batch_sizes, (h, c), params, has_biases, num_layers, dropout, train, bidirectional)`.
    output has shape (T, N, D P): D is 2 if bidirectional, else 1, and P the size of h, which is H
    without a projection. The layer is `nn.LSTM`, and a step `lstm_cell`.

    Args:
        input: sequences, a float tensor of shape (T, N, F), or (N, T, F) with batch_first; packed, the
            rows of all steps, of shape (rows, F)
        hx: (h, c) of shapes (num_layers D, N, P) and (num_layers D, N, H); packed, the batch sizes, and
            everything after it stands one place later
        params: the weights of each layer and, in it, of each direction: w_ih (4 H, F), w_hh (4 H, P),
            with biases b_ih and b_hh (4 H,), and with a projection w_hr (P, H). F of the second
            layer and later ones is the last size of output. RuntimeError for another number of weights
        has_biases: whether params holds biases
        num_layers: how many layers there are, at least 1
        dropout: the probability, from 0 to 1, of dropout after each layer but the last
        train: whether dropout acts
        bidirectional: whether a second recurrence runs from the end; output holds both side by side
        batch_first: whether the batch is dimension 0 of input and output instead of 1
            (default: False)

    >>> layer = taeda.nn.LSTM(2, 3)
    >>> x, h = taeda.ones(5, 1, 2), taeda.zeros(1, 1, 3)
    >>> weights = list(layer.parameters())
    >>> y, h, c = taeda.lstm(x, (h, h), weights, True, 1, 0.0, False, False, False)
    >>> y.shape
    taeda.Size([5, 1, 3])
    """
    given = (input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)
    output, (hidden, cell) = _layers("lstm", "LSTM", given)
    return output, hidden, cell


#: the arguments of layers with one state; g is the first size of their weights
_ARGUMENTS = """Args:
        input: sequences, a float tensor of shape (T, N, F), or (N, T, F) with batch_first; packed, the
            rows of all steps, of shape (rows, F)
        hx: the state h of shape (num_layers D, N, H); packed, the batch sizes, and
            everything after it stands one place later
        params: the weights of each layer and, in it, of each direction: w_ih ({g}, F), w_hh ({g}, H),
            with biases b_ih and b_hh ({g},). F of the second layer and later ones is the
            last size of output. RuntimeError for another number of weights
        has_biases: whether params holds biases
        num_layers: how many layers there are, at least 1
        dropout: the probability, from 0 to 1, of dropout after each layer but the last
        train: whether dropout acts
        bidirectional: whether a second recurrence runs from the end; output holds both side by side
        batch_first: whether the batch is dimension 0 of input and output instead of 1
            (default: False)"""
_FIRST_SIZES = {"gru": "3 H", "rnn_tanh": "H", "rnn_relu": "H"}
#: the layer whose weights an example takes
_LAYERS = {
    "gru": "GRU(2, 3)",
    "rnn_tanh": "RNN(2, 3)",
    "rnn_relu": 'RNN(2, 3, nonlinearity="relu")',
}


def _single(name: str, mode: str) -> Any:
    def layers(
        input: Tensor,
        hx: Tensor,
        params: Sequence[Tensor] | Tensor,
        has_biases: bool | Sequence[Tensor],
        num_layers: Any,
        dropout: float,
        train: Any,
        bidirectional: bool,
        batch_first: bool = False,
    ) -> tuple[Tensor, Tensor]:
        given = (
            input,
            hx,
            params,
            has_biases,
            num_layers,
            dropout,
            train,
            bidirectional,
            batch_first,
        )
        output, states = _layers(name, mode, given)
        return output, states[0]

    layers.__name__ = layers.__qualname__ = name
    layers.__doc__ = f"""{mode.split("_")[0]} layers: (output, h) from the weights, input (T, N, F) and
    h of (layers, N, H).

    Packed: `{name}(data, batch_sizes, h, params, has_biases, num_layers, dropout, train, bidirectional)`.
    output has shape (T, N, D H), where D is 2 if bidirectional, else 1. The layer is
    `nn.{_LAYERS[name].partition("(")[0]}`, and a step `{name}_cell`.

    {_ARGUMENTS.format(g=_FIRST_SIZES[name])}

    >>> layer = taeda.nn.{_LAYERS[name]}
    >>> x, h = taeda.ones(5, 1, 2), taeda.zeros(1, 1, 3)
    >>> y, h = taeda.{name}(x, h, list(layer.parameters()), True, 1, 0.0, False, False, False)
    >>> y.shape
    taeda.Size([5, 1, 3])
    """
    return asks(layers)


gru = _single("gru", "GRU")
rnn_tanh = _single("rnn_tanh", "RNN_TANH")
rnn_relu = _single("rnn_relu", "RNN_RELU")


def _layers(name: str, mode: str, given: tuple[Any, ...]) -> tuple[Tensor, States]:
    """Both forms: a batch of sequences, or packed rows, whose states and weights come one place later."""
    count = 2 if mode == "LSTM" else 1
    packed = isinstance(given[1], Tensor) and not isinstance(given[3], bool)
    sizes = given[1].tolist() if packed else None
    if packed:
        rows, _, hx, params, biases, layers, dropout, train, both = given
        batch_first = False
    else:
        rows, hx, params, biases, layers, dropout, train, both, batch_first = given
    states = (hx,) if isinstance(hx, Tensor) else tuple(hx)
    if len(states) != count:
        raise RuntimeError(f"{name} expects {count} hidden states, got {len(states)}")
    ways = 1 + bool(both)
    weights = _weights(name, params, bool(biases), int(layers) * ways, _projected(states))
    rows = rows.transpose(0, 1) if batch_first else rows
    dropped = float(dropout) if train else 0.0
    output, after = walk_layers(mode, rows, states, weights, sizes, ways, dropped)
    return (output.transpose(0, 1) if batch_first else output), after


def _projected(states: States) -> bool:
    return len(states) == 2 and states[0].size(-1) != states[1].size(-1)


def _weights(
    name: str, params: Sequence[Tensor], biases: bool, places: int, projected: bool
) -> list[Weights]:
    """The flat list, cut into layers and directions."""
    each = 2 + 2 * biases + projected
    if len(params) != places * each:
        raise RuntimeError(
            f"{name}: got {len(params)} weights, wanted {each} for each of {places} layers and directions"
        )
    made = []
    for start in range(0, len(params), each):
        w = list(params[start : start + each])
        input_bias, hidden_bias = (w[2], w[3]) if biases else (None, None)
        made.append(Weights(w[0], w[1], input_bias, hidden_bias, w[-1] if projected else None))
    return made


# ---- one step ----


def _cell(step: Step, input: Tensor, states: States, w: Weights) -> States:
    return step(linear(input, w.input, w.input_bias), states, w)


@asks
def lstm_cell(
    input: Tensor,
    hx: Sequence[Tensor],
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """One step of an LSTM: (h, c) from input (N, F), hx = (h, c), and the weights.

    With i, f, g, o = (w_ih x + b_ih + w_hh h + b_hh) in four parts, the next c is
    sigmoid(f) c + sigmoid(i) tanh(g), and the next h sigmoid(o) tanh(c). The layer is `nn.LSTMCell`.

    Args:
        input: the features of this step, a float tensor of shape (N, F) or (F,)
        hx: (h, c), each of shape (N, H) or (H,). RuntimeError for another number of states
        w_ih: the weights of the input, of shape (4 H, F)
        w_hh: the weights of h, of shape (4 H, H)
        b_ih: what is added to the input's share, of shape (4 H,); None for nothing (default: None)
        b_hh: what is added to the share of h, likewise (default: None)

    >>> x, h = taeda.ones(1, 2), taeda.zeros(1, 3)
    >>> hidden, cell = taeda.lstm_cell(x, (h, h), taeda.zeros(12, 2), taeda.zeros(12, 3))
    >>> hidden.shape
    taeda.Size([1, 3])
    """
    if len(hx) != 2:
        raise RuntimeError(f"lstm_cell expects two hidden states, got {len(hx)}")
    h, c = _cell(lstm_step, input, tuple(hx), Weights(w_ih, w_hh, b_ih, b_hh))
    return h, c


#: the arguments of cells with one state
_CELL = """Args:
        input: the features x of this step, a float tensor of shape (N, F) or (F,)
        hx: the state h, of shape (N, H) or (H,)
        w_ih: the weights of the input, of shape ({g}, F)
        w_hh: the weights of the state, of shape ({g}, H)
        b_ih: what is added to the input's share, of shape ({g},); None for nothing (default: None)
        b_hh: what is added to the state's share, likewise (default: None)"""
_FORMULAS = {
    "gru_cell": """With r, z, n = w_ih x + b_ih and R, Z, M = w_hh h + b_hh in three parts each, and
    m = tanh(n + sigmoid(r + R) M), the next h is m + sigmoid(z + Z) (h - m).""",
    "rnn_tanh_cell": "The next h is tanh(w_ih x + b_ih + w_hh h + b_hh).",
    "rnn_relu_cell": "The next h is relu(w_ih x + b_ih + w_hh h + b_hh).",
}


def _single_cell(name: str, step: Step) -> Any:
    def cell(
        input: Tensor,
        hx: Tensor,
        w_ih: Tensor,
        w_hh: Tensor,
        b_ih: Tensor | None = None,
        b_hh: Tensor | None = None,
    ) -> Tensor:
        return _cell(step, input, (hx,), Weights(w_ih, w_hh, b_ih, b_hh))[0]

    cell.__name__ = cell.__qualname__ = name
    size = 6 if name == "gru_cell" else 2  # three weights in one, or one
    first = "3 H" if name == "gru_cell" else "H"
    cell.__doc__ = f"""One step: the next h (N, H) from input (N, F), hx (N, H), and the weights.

    {_FORMULAS[name]}
    The layer is `nn.{"GRUCell" if name == "gru_cell" else "RNNCell"}`.

    {_CELL.format(g=first)}

    >>> x, h = taeda.ones(1, 2), taeda.zeros(1, 2)
    >>> taeda.{name}(x, h, taeda.zeros({size}, 2), taeda.zeros({size}, 2))
    tensor([[0., 0.]])
    """
    return asks(cell)


gru_cell = _single_cell("gru_cell", gru_step)
rnn_tanh_cell = _single_cell("rnn_tanh_cell", tanh_step)
rnn_relu_cell = _single_cell("rnn_relu_cell", relu_step)
