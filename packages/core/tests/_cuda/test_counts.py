"""Histograms on a CUDA device: the processor's bits and refusals, without CuPy."""

from __future__ import annotations

import pytest

PROGRAM = """
def same(f, *tensors):
    there, here = f(*[t.to("cuda:1") for t in tensors]), f(*tensors)
    assert there.device == x.device and there.dtype == here.dtype
    assert taeda.equal(there.cpu(), here), (there, here)
def refused(kind, words, f, *tensors):
    for move in (taeda.Tensor.cuda, taeda.Tensor.clone):
        refuses(kind, words, lambda: f(*map(move, tensors)))
nan, inf = float("nan"), float("inf")
for dtype in (taeda.float32, taeda.float64, taeda.float16, taeda.bfloat16):
    t = (taeda.randn(50, 7) * 3).to(dtype)
    for bins, low, high in ((10, -4, 4), (7, 0, 0), (3, -0.1, 0.3), (1, 0, 1), (1000, -5, 5)):
        same(lambda t: taeda.histc(t, bins, low, high), t)
    whole = taeda.arange(-3, 12).to(dtype)  # on the edges
    same(lambda t: taeda.histc(t, 10, 0, 10), whole)
    same(lambda t: taeda.histc(t, 30, -3, 0), whole / 10)
    same(lambda t: taeda.histc(t, 5, -1, 1), taeda.tensor([nan, inf, -inf, 1, -1]).to(dtype))
    same(lambda t: taeda.histc(t, 5), t[:0])
    same(lambda t: taeda.histc(t, 4), taeda.full((3,), 2.0).to(dtype))
    for values in ([3.0], [1e38, -3e38], [-3e38], [1e-45, 7.0], [1.0, inf], [inf, -inf], [1e300, 1.0]):
        t = taeda.tensor(values).to(dtype)
        for low, high in ((0, 0), (1, 1), (-3e38, 3e38), (0, 1e-45), (-1e308, 1.7e308), (0, 255)):
            for bins in (1, 7, 100):
                try:
                    taeda.histc(t, bins, low, high)
                except RuntimeError:
                    refused(RuntimeError, "is not finite", lambda t: taeda.histc(t, bins, low, high), t)
                else:
                    with taeda.device("cuda:0"):
                        same(lambda t: taeda.histc(t, bins, low, high), t)
points, weight = taeda.randn(200, 2), taeda.rand(200)
edges = taeda.tensor([-2.0, -1, 0, 0, 0.5, 2]), taeda.tensor([-1.0, 1])
points[:6, 0] = edges[0]
points[7, 1] = nan
same(lambda p, w, a, b: taeda._histogramdd(p, [a, b], w), points, weight, *edges)
same(lambda p, a, b: taeda._histogramdd(p, [a, b], None), points, *edges)
same(lambda p, a, b: taeda._histogramdd(p, [a, b], None), points[:0], *edges)
same(lambda p: taeda.histogramdd(p, [4, 3])[0], points[20:])
same(lambda p: taeda.histogram(p, 6, range=(-1.0, 1.0))[0], points[20:, 0].contiguous())
t = taeda.randn(3)
refused(RuntimeError, "bins must be > 0", lambda t: taeda.histc(t, 0), t)
refused(RuntimeError, "max must be larger than min", lambda t: taeda.histc(t, 3, 2, 1), t)
refused(RuntimeError, "is not finite", lambda t: taeda.histc(t, 3), taeda.tensor([nan, 1.0]))
refused(RuntimeError, "is not finite", lambda t: taeda.histc(t, 3), taeda.tensor([inf, 1.0]))
"""


@pytest.mark.slow
def test_histograms(run):
    run(PROGRAM, None)
