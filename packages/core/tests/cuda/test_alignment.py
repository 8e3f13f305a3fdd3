"""Losses of alignments on the stand-in driver: the processor's bits for what the kernel computes."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import standin

PROGRAM = (
    standin.REFUSES
    + """
import taeda, taeda.nn
from taeda._core_api.operators import nn
F = taeda.nn.functional
taeda.manual_seed(0)
for dtype in (taeda.float32, taeda.float64):
    for steps, batch, states in ((1, 1, 1), (7, 3, 5), (9, 2, 151)):
        emitted = taeda.randn(steps, batch, states).to(dtype)
        emitted[0, 0, 0] = -float("inf")
        skips = taeda.rand(batch, states) < 0.5
        real = taeda.randint(0, states + 1, (batch,))
        length = taeda.randint(0, steps + 1, (batch,))
        real[0], length[0] = states, steps
        for back in (False, True):
            given = emitted, skips, real, length
            here = nn._alignments(*given, back)
            there = nn._alignments(*(t.cuda() for t in given), back)
            assert taeda.equal(here, there.cpu()), (dtype, steps, states, back)
    for bad in (-1, 152):
        wrong = taeda.tensor([bad, 3])
        refuses(
            RuntimeError,
            "states are 0 to 151",
            lambda: nn._alignments(emitted.cuda(), skips.cuda(), wrong.cuda(), length.cuda(), False),
        )
    refuses(
        RuntimeError,
        "steps are 0 to 9",
        lambda: nn._alignments(emitted.cuda(), skips.cuda(), real.cuda(), wrong.cuda(), False),
    )
    made = []
    for move in (taeda.Tensor.clone, taeda.Tensor.cuda):
        taeda.manual_seed(1)
        x = move(taeda.randn(12, 3, 7).to(dtype)).detach().requires_grad_()
        targets = move(taeda.randint(1, 7, (3, 5)))
        loss = F.ctc_loss(x.log_softmax(2), targets, (12, 9, 5), (5, 3, 0), reduction="none")
        loss.sum().backward()
        made.append((loss.detach().cpu(), x.grad.cpu()))
    for a, b in zip(*made, strict=True):
        assert taeda.allclose(a, b, rtol=1e-5, atol=1e-6), (dtype, a, b)
"""
)


@pytest.mark.slow
def test_alignments_have_the_processors_bits():
    standin.run(PROGRAM, TAEDA_NULL_LATE="1", TAEDA_CUDA_FALLBACK="")
