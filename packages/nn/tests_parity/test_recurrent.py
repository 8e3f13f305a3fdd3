"""Recurrent layers equal torch's: outputs, last states and every gradient, over options, packed and not."""

from __future__ import annotations

import pytest
from both import copy_state

torch = pytest.importorskip("torch")
from parity import to_taeda, to_torch  # noqa: E402

import taeda  # noqa: E402 - after the check: without torch there is nothing to compare

# torch says so whenever an LSTM has projections on a processor
pytestmark = pytest.mark.filterwarnings("ignore:LSTM with projections:UserWarning")
LAYERS = [
    "nn.RNN(6, 20",
    "nn.RNN(6, 5, nonlinearity='relu'",
    "nn.LSTM(6, 40",
    "nn.LSTM(6, 5, proj_size=3",
    "nn.GRU(6, 5",
    "nn.GRU(6, 70",
]
OPTIONS = [
    "",
    "bias=False",
    "num_layers=2, bidirectional=True",
    "batch_first=True, dtype=lib.float64",
]


def pair(text):
    ours, theirs = (eval(text, {"nn": lib.nn, "lib": lib}) for lib in (taeda, torch))
    copy_state(theirs, ours, taeda.from_numpy)
    return ours, theirs


def flat(result):
    """Tensors of (output, states), output packed or not."""
    output, states = result
    output = getattr(output, "data", output)
    return [output, *(states if isinstance(states, tuple) else (states,))]


def compare(ours, theirs, result, expected, x, y):
    pairs = list(zip(flat(result), flat(expected), strict=True))
    for a, b in pairs:
        torch.testing.assert_close(to_torch(a), b.detach(), rtol=1e-4, atol=1e-5)
    sum((a * a).sum() for a, _ in pairs).backward()
    sum((b * b).sum() for _, b in pairs).backward()
    torch.testing.assert_close(to_torch(x.grad), y.grad, rtol=2e-4, atol=2e-5)
    for (name, a), b in zip(ours.named_parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(
            to_torch(a.grad), b.grad, rtol=2e-4, atol=2e-5, msg=lambda m, n=name: f"{n}: {m}"
        )


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("layer", LAYERS)
def test_batches(layer, options):
    ours, theirs = pair(f"{layer}, {options})")
    g = torch.Generator().manual_seed(1)
    y = torch.randn(7, 4, 6, generator=g, dtype=theirs.weight_ih_l0.dtype).requires_grad_()
    x = to_taeda(y.detach()).requires_grad_()
    compare(ours, theirs, ours(x), theirs(y), x, y)


@pytest.mark.parametrize("options", OPTIONS[:3])
@pytest.mark.parametrize("layer", LAYERS)
def test_packed_sequences(layer, options):
    ours, theirs = pair(f"{layer}, {options})")
    g = torch.Generator().manual_seed(2)
    y = torch.randn(7, 4, 6, generator=g).requires_grad_()
    x = to_taeda(y.detach()).requires_grad_()
    results = []
    for lib, layer_, rows in ((taeda, ours, x), (torch, theirs, y)):
        pack = lib.nn.utils.rnn.pack_padded_sequence
        results.append(layer_(pack(rows, lib.tensor([3, 7, 1, 7]), enforce_sorted=False)))
    compare(ours, theirs, *results, x, y)
