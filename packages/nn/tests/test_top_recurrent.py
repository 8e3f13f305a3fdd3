"""Recurrent layers as functions at the top: the results of the modules that they belong to, and refusals."""

import pytest

import taeda
from taeda import nn


def weights(module):
    return [w for layer in module.all_weights for w in layer]


@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("options", [{}, {"num_layers": 2, "bidirectional": True}, {"bias": False}])
@pytest.mark.parametrize("name", ["LSTM", "GRU", "RNN"])
def test_layers_equal_their_modules(name, options, batch_first):
    module = getattr(nn, name)(4, 5, batch_first=batch_first, **options).double()
    x = taeda.randn(3, 3, 4, dtype=taeda.float64, requires_grad=True)
    ways, layers = 1 + module.bidirectional, module.num_layers
    h = taeda.randn(ways * layers, 3, 5, dtype=taeda.float64)
    states = (h, h + 1) if name == "LSTM" else h
    function = getattr(taeda, {"RNN": "rnn_tanh"}.get(name, name.lower()))
    output, *after = function(
        x, states, weights(module), module.bias, layers, 0.0, True, ways == 2, batch_first
    )
    expected, last = module(x, states)
    assert taeda.equal(output, expected)
    assert all(map(taeda.equal, after, last if name == "LSTM" else [last]))
    packed = nn.utils.rnn.pack_padded_sequence(x, [3, 2, 1], batch_first=batch_first)
    output, *_ = function(
        packed.data,
        packed.batch_sizes,
        states,
        weights(module),
        module.bias,
        layers,
        0.0,
        True,
        ways == 2,
    )
    assert taeda.equal(output, module(packed, states)[0].data)


def test_projections_are_seen_by_the_states():
    module = nn.LSTM(4, 5, proj_size=2)
    x, states = taeda.randn(3, 1, 4), (taeda.zeros(1, 1, 2), taeda.zeros(1, 1, 5))
    made = taeda.lstm(x, states, weights(module), True, 1, 0.0, False, False, False)
    assert taeda.equal(made[0], module(x)[0])


@pytest.mark.parametrize("name", ["LSTMCell", "GRUCell", "RNNCell"])
def test_cells_equal_their_modules(name):
    module = getattr(nn, name)(4, 5)
    x, h = taeda.randn(3, 4), taeda.randn(3, 5)
    function = getattr(
        taeda, {"LSTMCell": "lstm_cell", "GRUCell": "gru_cell", "RNNCell": "rnn_tanh_cell"}[name]
    )
    hx = (h, h + 1) if name == "LSTMCell" else h
    made, expected = function(x, hx, *module.parameters()), module(x, hx)
    pairs = zip(made, expected, strict=True) if name == "LSTMCell" else [(made, expected)]
    assert all(taeda.equal(a, b) for a, b in pairs)


def test_wrong_numbers_of_weights_and_states_are_refused():
    x, h = taeda.ones(2, 1, 3), taeda.zeros(1, 1, 4)
    with pytest.raises(RuntimeError, match="got 1 weights, wanted 4"):
        taeda.gru(x, h, [taeda.ones(12, 3)], True, 1, 0.0, False, False, False)
    with pytest.raises(RuntimeError, match="expects 2 hidden states, got 1"):
        taeda.lstm(x, [h], [], True, 1, 0.0, False, False, False)
    with pytest.raises(RuntimeError, match="two hidden states"):
        taeda.lstm_cell(x[0], [h], taeda.ones(16, 3), taeda.ones(16, 4))
