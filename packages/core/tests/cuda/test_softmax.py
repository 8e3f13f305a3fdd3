"""Softmax and its kin on the stand-in driver: the processor's bits, forward and backward."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import standin

PROGRAM = """
import taeda
taeda.manual_seed(0)
def same(made, wanted, what):
    back = made.cpu()
    equal = (back == wanted) | ((back != back) & (wanted != wanted))
    assert made.device.type == "cuda" and equal.all(), (what, int((~equal).sum()))
def gradient(f, t, dim, g):
    t = t.clone().requires_grad_()
    f(t, dim).backward(g.to(t.device))
    return t.grad
for shape, dim in (
    [((5, n), 1) for n in (1, 7, 31, 33, 515, 5000)]
    + [((n, 5), 0) for n in (1, 300)]
    + [((4, 6, 9), 1)]
):
    for dtype in (taeda.float32, taeda.float64, taeda.bfloat16):
        x, g = (taeda.randn(*shape) * 4).to(dtype), taeda.randn(*shape).to(dtype)
        for f in (taeda.softmax, taeda.log_softmax, taeda.logsumexp):
            same(f(x.cuda(), dim), f(x, dim), (f.__name__, shape, dtype))
        for f in (taeda.softmax, taeda.log_softmax):
            same(
                gradient(f, x.cuda(), dim, g),
                gradient(f, x, dim, g),
                (f.__name__, "backward", shape, dtype),
            )
inf, nan = float("inf"), float("nan")
x = taeda.tensor([[1.0, inf, 2.0], [-inf] * 3, [nan, 1.0, 2.0]])
for f in (taeda.softmax, taeda.log_softmax, taeda.logsumexp):
    same(f(x.cuda(), 1), f(x, 1), "special")
for dtype, tight in ((taeda.complex64, 1e-6), (taeda.complex128, 1e-14)):
    x = taeda.randn(4, 6, 9, dtype=dtype) * 4
    x[0, 0] -= 900  # below the range of an exponential
    for dims in (0, 1, 2, (0, 2), (0, 1, 2)):
        made, wanted = x.cuda().logsumexp(dims), x.logsumexp(dims)
        assert made.device.type == "cuda" and made.shape == wanted.shape
        assert taeda.allclose(made.cpu(), wanted, rtol=tight, atol=tight), (dtype, dims)
    assert x[:0].cuda().logsumexp(0).cpu().real.eq(-inf).all()
"""


@pytest.mark.parametrize("late", [False, True], ids=["at once", "late"])
def test_softmax_has_the_processors_bits(late):
    standin.run(PROGRAM, TAEDA_NULL_LATE=str(int(late)))
