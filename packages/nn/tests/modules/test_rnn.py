"""Recurrent layers against loops in numpy; their options and refusals."""

from __future__ import annotations

import numpy as np
import pytest
from layer_references import recurrent_step

import taeda
from taeda import nn
from taeda.nn.utils.rnn import PackedSequence, pack_sequence, pad_packed_sequence


def reference(kind, layer, x):
    """All layers and directions over (T, N, F), from zeros: outputs and last hidden states."""
    w = {name: p.detach().numpy() for name, p in layer.named_parameters()}
    last = []
    for level in range(layer.num_layers):
        outputs = []
        for suffix in (f"_l{level}", f"_l{level}_reverse")[: 1 + layer.bidirectional]:
            width = layer.proj_size or layer.hidden_size
            h, c = np.zeros((x.shape[1], width)), np.zeros((x.shape[1], layer.hidden_size))
            steps = x[::-1] if suffix.endswith("e") else x
            seen = []
            for row in steps:
                h, c = recurrent_step(kind, row, h, c, w, suffix)
                seen.append(h)
            outputs.append(np.stack(seen[::-1] if suffix.endswith("e") else seen))
            last.append(h)
        x = np.concatenate(outputs, -1)
    return x, np.stack(last)


CASES = [
    ("tanh", lambda **o: nn.RNN(3, 4, **o)),
    ("relu", lambda **o: nn.RNN(3, 4, nonlinearity="relu", **o)),
    ("LSTM", lambda **o: nn.LSTM(3, 4, **o)),
    ("LSTM", lambda **o: nn.LSTM(3, 4, proj_size=2, **o)),
    ("GRU", lambda **o: nn.GRU(3, 4, **o)),
]
OPTIONS = [{}, {"num_layers": 2}, {"bidirectional": True, "num_layers": 2}, {"bias": False}]


@pytest.mark.parametrize(("kind", "make"), CASES, ids=["tanh", "relu", "LSTM", "projected", "GRU"])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_against_numpy(kind, make, options):
    layer, x = make(**options), taeda.randn(5, 2, 3)
    expected, last = reference(kind, layer, x.numpy())
    output, states = layer(x)
    hidden = states[0] if kind == "LSTM" else states
    np.testing.assert_allclose(output.detach().numpy(), expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(hidden.detach().numpy(), last, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("kind", "make"), CASES[2:], ids=["LSTM", "projected", "GRU"])
def test_layouts_agree(kind, make):
    layer = make(bidirectional=True)
    x = taeda.randn(5, 2, 3)
    output, states = layer(x)
    layer.batch_first = True
    swapped, _ = layer(x.transpose(0, 1))
    assert taeda.allclose(swapped.transpose(0, 1), output)
    single, ends = layer(x[:, 0])
    assert taeda.allclose(single, output[:, 0], atol=1e-6)
    pair = (ends, states) if kind == "GRU" else (ends[0], states[0])
    assert taeda.allclose(pair[0], pair[1][:, 0], atol=1e-6)


@pytest.mark.parametrize(("kind", "make"), CASES[2:], ids=["LSTM", "projected", "GRU"])
def test_packed_sequences_are_as_one_by_one(kind, make):
    layer = make(bidirectional=True, num_layers=2)
    sequences = [taeda.randn(n, 3) for n in (2, 5, 3)]
    output, states = layer(pack_sequence(sequences, enforce_sorted=False))
    assert isinstance(output, PackedSequence)
    padded, lengths = pad_packed_sequence(output)
    assert lengths.tolist() == [2, 5, 3]
    hidden = states if kind == "GRU" else states[0]
    for i, sequence in enumerate(sequences):
        alone, ends = layer(sequence)
        ends = ends if kind == "GRU" else ends[0]
        assert taeda.allclose(padded[: len(sequence), i], alone, atol=1e-5)
        assert taeda.allclose(hidden[:, i], ends, atol=1e-5)


def test_states_carry_on():
    layer, x = nn.LSTM(3, 4), taeda.randn(6, 2, 3)
    whole, _ = layer(x)
    first, states = layer(x[:4])
    rest, _ = layer(x[4:], states)
    assert taeda.allclose(taeda.cat([first, rest]), whole, atol=1e-6)


def test_gradients_reach_all_weights():
    layer = nn.GRU(3, 4, num_layers=2, bidirectional=True)
    layer(taeda.randn(5, 2, 3))[0].sum().backward()
    assert all(p.grad is not None and p.grad.abs().max() > 0 for p in layer.parameters())
    assert [len(row) for row in layer.all_weights] == [4] * 4
    layer.flatten_parameters()


def test_dropout_between_layers_only_in_training():
    layer = nn.GRU(3, 4, num_layers=2, dropout=0.9)
    x = taeda.randn(5, 2, 3)
    taeda.manual_seed(0)
    assert not taeda.allclose(layer(x)[0], layer(x)[0])
    layer.eval()
    assert taeda.equal(layer(x)[0], layer(x)[0])


X = taeda.ones(2, 2, 3)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: nn.GRU(0, 3), ValueError, "input_size must be greater than zero, got 0"),
        (lambda: nn.GRU(3, 2.5), TypeError, "hidden_size should be of type int, got: float"),
        (lambda: nn.GRU(3, 3, bias=1), TypeError, "bias should be of type bool"),
        (lambda: nn.GRU(3, 3, num_layers=0), ValueError, "num_layers must be greater than zero"),
        (lambda: nn.GRU(3, 3, dropout=2), ValueError, r"number in range \[0, 1\]"),
        (lambda: nn.GRU(3, 3, proj_size=2), ValueError, "only supported for LSTM"),
        (lambda: nn.LSTM(3, 3, proj_size=3), ValueError, "smaller than hidden_size, got 3 and 3"),
        (lambda: nn.RNN(3, 3, nonlinearity="x"), ValueError, "Unknown nonlinearity 'x'"),
        (lambda: nn.RNNBase("FOO", 3, 3), ValueError, "Unrecognized RNN mode: FOO"),
        (lambda: nn.GRU(3, 3)(taeda.ones(2, 2, 4)), RuntimeError, "Expected 3, got 4"),
        (lambda: nn.GRU(3, 3)(taeda.ones(2)), ValueError, "2D or 3D, got 1D"),
        (
            lambda: nn.GRU(3, 3)(X.double()),
            ValueError,
            r"taeda.float64\) does not match weight dtype",
        ),
        (
            lambda: nn.GRU(3, 3)(X, taeda.ones(1, 3, 3)),
            RuntimeError,
            r"\(1, 2, 3\), got \[1, 3, 3\]",
        ),
        (
            lambda: nn.GRU(3, 3)(X, taeda.ones(1, 3)),
            RuntimeError,
            r"hx should also be 3-D but got \(2-D\)",
        ),
        (lambda: nn.LSTM(3, 3)(X, (X[:1], taeda.ones(1, 2, 4))), RuntimeError, r"hidden\[1\] size"),
    ],
)
def test_refusals(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_dropout_without_a_second_layer_warns():
    with pytest.warns(UserWarning, match="num_layers greater than 1"):
        nn.RNN(3, 3, dropout=0.3)


def test_text():
    layer = nn.LSTM(
        3, 4, 2, bias=False, batch_first=True, dropout=0.1, bidirectional=True, proj_size=2
    )
    assert repr(layer) == (
        "LSTM(3, 4, proj_size=2, num_layers=2, bias=False, batch_first=True, dropout=0.1, bidirectional=True)"
    )
    assert repr(nn.RNNCell(3, 4, nonlinearity="relu")) == "RNNCell(3, 4, nonlinearity=relu)"


def test_samples_in_another_order():
    from taeda.nn.modules.rnn import apply_permutation

    x = taeda.arange(6.0).reshape(1, 3, 2)
    assert apply_permutation(x, taeda.tensor([2, 0, 1]))[0, :, 0].tolist() == [4, 0, 2]


@pytest.mark.parametrize(("kind", "make"), CASES)
def test_names_by_which_libraries_reach_the_weights(kind, make):
    layer = make(num_layers=2, bidirectional=True)
    names = [name for name, _ in layer.named_parameters()]
    assert layer._flat_weights_names == names == [n for part in layer._all_weights for n in part]
    assert all(a is b for a, b in zip(layer._flat_weights, layer.parameters(), strict=True))
    layer._flat_weights = list(layer.parameters())  # what is there already
    with pytest.raises(RuntimeError, match="assign weight_ih_l0, weight_hh_l0"):
        layer._flat_weights = [taeda.zeros(1)] * len(names)


def test_an_own_check_and_an_own_order_are_asked():
    seen = []

    class Own(nn.LSTM):
        def check_forward_args(self, input, hidden, batch_sizes):
            seen.append(("check", tuple(hidden[0].shape), batch_sizes is None))
            super().check_forward_args(input, hidden, batch_sizes)

        def permute_hidden(self, hx, permutation):
            seen.append(("permute", len(hx)))
            return super().permute_hidden(hx, permutation)

    layer = Own(3, 4, proj_size=2)
    layer(taeda.randn(5, 2, 3))
    layer(pack_sequence([taeda.randn(2, 3), taeda.randn(4, 3)], enforce_sorted=False))
    assert seen == [("check", (1, 2, 2), True), ("check", (1, 2, 2), False), ("permute", 2)]
    assert layer.get_expected_cell_size(taeda.zeros(5, 2, 3), None) == (1, 2, 4)
    with pytest.raises(RuntimeError, match=r"Expected hidden\[1\] size \(1, 2, 4\)"):
        layer.check_forward_args(taeda.zeros(5, 2, 3), (taeda.zeros(1, 2, 2),) * 2, None)
