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

SEGMENTS = """
import taeda
taeda.manual_seed(0)
EDGES = (
    [0, 10], [0, 0, 10], [0, 10, 10], [0, 3, 3, 3, 10], [*range(11)], [0, 0, 0, 9, 10, 10, 10],
    [0, 5000, 5001, 9300],
)
BAD = ([1, 10], [0, 9], [0, 6, 4, 10], [0, -1, 10], [0, 11, 10], [0], [0, 2**62, 10], [0, 10, 12])
def gradient(x, edges, is_log, g):
    x = x.clone().requires_grad_()
    taeda._segment_softmax(x, edges, is_log).backward(g.to(x.device))
    return x.grad
for dtype in (taeda.float32, taeda.float64):
    for edges in map(taeda.tensor, EDGES):
        for rows in (0, 1, 7):
            x = taeda.randn(rows, int(edges[-1]), dtype=dtype) * 4
            g = taeda.randn_like(x)
            if rows:
                x[0, 2], x[-1, 7] = float("inf"), float("nan")
            for is_log in (False, True):
                made, wanted = (taeda._segment_softmax(t, e, is_log).cpu()
                                for t, e in ((x.cuda(), edges.cuda()), (x, edges)))
                taeda.testing.assert_close(made, wanted, rtol=0, atol=0, equal_nan=True)
                made, wanted = gradient(x.cuda(), edges.cuda(), is_log, g), gradient(x, edges, is_log, g)
                taeda.testing.assert_close(made.cpu(), wanted, rtol=0, atol=0, equal_nan=True)
x = taeda.randn(20, 10, dtype=taeda.float64)
edges = taeda.tensor([0, 4, 10])
turned = taeda._segment_softmax(x.cuda().T[:10].T, edges.cuda().repeat_interleave(2)[::2], False)
assert taeda.equal(turned.cpu(), taeda._segment_softmax(x, edges, False))
for rows in (0, 1, 3):
    for bad in map(taeda.tensor, BAD):
        x = taeda.randn(rows, 10)
        words = []
        for device in ("cpu", "cuda"):
            try:
                taeda._segment_softmax(x.to(device), bad.to(device), False)
                taeda.cuda.synchronize()
            except RuntimeError as error:
                words.append(str(error))
        assert len(words) == 2 and words[1].startswith(words[0]), (rows, bad, words)
        taeda.cuda.synchronize()  # it is told once
dense = taeda.randn(6, 5) * (taeda.rand(6, 5) > 0.5)
for make in (taeda.Tensor.to_sparse, taeda.Tensor.to_sparse_csr):
    for f in (taeda.sparse.softmax, taeda.sparse.log_softmax):
        for dim in (0, 1):
            made, wanted = (f(make(dense.to(device)), dim).to_dense().cpu() for device in ("cuda", "cpu"))
            assert taeda.equal(made, wanted), (make, f, dim)
assert taeda._segment_softmax(taeda.zeros(3, 0).cuda(), taeda.tensor([0]).cuda(), False).shape == (3, 0)
"""


def test_softmax_of_segments_has_the_processors_bits_and_refusals():
    standin.run(SEGMENTS, TAEDA_NULL_LATE="1", TAEDA_CUDA_FALLBACK="")


@pytest.mark.parametrize("late", [False, True], ids=["at once", "late"])
def test_softmax_has_the_processors_bits(late):
    standin.run(PROGRAM, TAEDA_NULL_LATE=str(int(late)))
