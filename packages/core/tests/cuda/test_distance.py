"""Distances between rows on the stand-in driver: the processor's bits, forward and backward."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import standin

PROGRAM = """
import taeda
taeda.manual_seed(0)
inf = float("inf")
def both(x, y, p):
    made = []
    for move in (taeda.Tensor.clone, taeda.Tensor.cuda):
        a, b = (move(t).detach().requires_grad_() for t in (x, y))
        far = taeda.cdist(a, b, p, compute_mode="donot_use_mm_for_euclid_dist")
        far.backward(move(taeda.arange(1.0, far.numel() + 1).reshape(far.shape).to(x.dtype)))
        made.append([t.cpu() for t in (far, a.grad, b.grad)])
    return made
for dtype in (taeda.float32, taeda.float64):
    shapes = ((3, 5), (4, 5)), ((70, 1), (66, 1)), ((2, 3, 131), (2, 67, 131)), ((5, 0), (3, 0))
    for shape, other in (*shapes, ((0, 4), (3, 4))):
        x, y = (taeda.randn(s).to(dtype) for s in (shape, other))
        if x.numel() and x.size(-1) > 3:
            y[..., 0, :] = x[..., 0, :]   # a distance of 0
            x[..., 1, 2] = inf
            y[..., 1, 3] = float("nan")
        for p in (0.0, 0.5, 1.0, 2.0, 3.0, 4.5, inf):
            here, there = both(x, y, p)
            for a, b in zip(here, there, strict=True):
                assert ((a == b) | ((a != a) & (b != b))).all(), (dtype, shape, p)
x, y = taeda.randn(4, 6).t(), taeda.randn(5, 12)[:, ::3]
assert taeda.equal(taeda.cdist(x.cuda(), y.cuda(), 1.0).cpu(), taeda.cdist(x, y, 1.0))
a = taeda.randn(40, 3)
assert taeda.equal(taeda.pdist(a.cuda(), 3.0).cpu(), taeda.pdist(a, 3.0))
"""


@pytest.mark.slow
def test_distances_have_the_processors_bits():
    standin.run(PROGRAM, TAEDA_NULL_LATE="1", TAEDA_CUDA_FALLBACK="")
