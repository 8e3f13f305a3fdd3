"""Recurrent layers on the stand-in driver: close to the processor's, and its bits where the
products with the state are exact.
"""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import standin

PROGRAM = """
import taeda
from taeda import nn
from taeda._core_api.operators import nn as _nn
taeda.manual_seed(0)

def run(layer, x, device):
    layer = layer.to(device)
    for p in layer.parameters():
        p.grad = None
    x = x.detach().to(device).requires_grad_()
    output, states = layer(x)
    states = states if isinstance(states, tuple) else (states,)
    loss = (
        output * taeda.arange(output.numel(), device=device).reshape(output.shape) % 5
    ).sum() + sum((s * s).sum() for s in states)
    loss.backward()
    assert output.device.type == x.grad.device.type == device
    return [t.detach().cpu() for t in (output, *states, x.grad, *(p.grad for p in layer.parameters()))]

def compare(layer, x, what):
    for k, (a, b) in enumerate(zip(run(layer, x, "cpu"), run(layer, x, "cuda"), strict=True)):
        bound = (1e-5 if a.dtype == taeda.float32 else 1e-13) * max(1, a.abs().max().item())
        assert (a - b).abs().max().item() <= bound, (what, k, (a - b).abs().max(), bound)

for kind, options in ((nn.LSTM, {}), (nn.GRU, {}), (nn.RNN, {}), (nn.RNN, {"nonlinearity": "relu"})):
    for dtype in (taeda.float32, taeda.float64):
        for sizes in ((1, 1, 1, 1), (5, 3, 4, 6), (4, 2, 7, 33)):
            steps, rows, width, units = sizes
            what = (kind.__name__, options, dtype, sizes)
            layer = kind(width, units, num_layers=2, bidirectional=True, **options).to(dtype)
            compare(layer, taeda.randn(steps, rows, width, dtype=dtype), what)
            layer = kind(width, units, bias=False, batch_first=True, **options).to(dtype)
            compare(layer, taeda.randn(rows, steps, width, dtype=dtype), (*what, "batch first"))
# numbers of few bits: sums of products are exact in any order, so the cells alone make the bits
for op, gates in (("_lstm", 4), ("_gru", 3), ("_rnn", 1)):
    call = getattr(_nn, op)
    share = taeda.randint(-8, 9, (1, 3, gates * 5)) / 8
    hidden, cell, weight = (taeda.randint(-4, 5, s) / 4 for s in ((3, 5), (3, 5), (gates * 5, 5)))
    given = {
        "_lstm": (share, hidden, cell, weight),
        "_gru": (share, hidden, weight, weight[0]),
        "_rnn": (share, hidden, weight, False),
    }[op]
    results = []
    for move in (taeda.Tensor.clone, taeda.Tensor.cuda):
        made = call(*(move(t) if isinstance(t, taeda.Tensor) else t for t in given), False)
        results.append([t.cpu() for t in (made if isinstance(made, tuple) else (made,))])
    for a, b in zip(*results, strict=True):
        assert taeda.equal(a, b), (op, a, b)
"""


@pytest.mark.slow
def test_recurrent_layers_agree_with_the_processors():
    standin.run(PROGRAM, TAEDA_NULL_LATE="1", TAEDA_CUDA_FALLBACK="")
