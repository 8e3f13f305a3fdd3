"""Normalisation on the stand-in driver: the processor's bits, forward and backward, by rows,
channels and groups.
"""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import standin

BEGIN = """
import taeda
from taeda.nn import functional as F
taeda.manual_seed(0)
def same(f, what, *tensors, running=()):
    results = []
    for move in (taeda.Tensor.clone, taeda.Tensor.cuda):
        leaves = [t if t is None else move(t).requires_grad_() for t in tensors]
        kept = [move(t) for t in running]
        y = f(*leaves, *kept)
        (y * move(taeda.arange(y.numel()).reshape(y.shape) % 7)).sum().backward()
        assert y.device == leaves[0].device
        grads = [leaf.grad for leaf in leaves if leaf is not None]
        results.append([t.cpu() for t in (y.detach(), *grads, *kept)])
    for k, (a, b) in enumerate(zip(*results, strict=True)):
        assert taeda.equal(a, b), (what, k, (a - b).abs().max())
"""
ROWS = """
for shape in ((3, 1), (5, 31), (4, 33), (2, 3, 700), (300, 260)):
    for dtype in (taeda.float32, taeda.float64, taeda.bfloat16):
        x, n = taeda.randn(*shape).to(dtype), shape[-1:]
        w, b = taeda.randn(*n).to(dtype), taeda.randn(*n).to(dtype)
        for weight, bias in ((w, b), (w, None), (None, None)):
            same(lambda x, w, b: F.layer_norm(x, n, w, b), ("layer", shape, dtype), x, weight, bias)
            same(lambda x, w: F.rms_norm(x, n, w), ("rms", shape, dtype), x, weight)
"""
CHANNELS = """
for shape in ((4, 3), (70, 5), (6, 3, 9, 7), (5, 20, 6, 5), (3, 17, 5000), (1, 4, 3, 3)):
    for dtype in (taeda.float32, taeda.float64, taeda.bfloat16):
        c = shape[1]
        x, w, b = taeda.randn(*shape).to(dtype), taeda.randn(c).to(dtype), taeda.randn(c).to(dtype)
        wide = taeda.float32 if dtype == taeda.bfloat16 else dtype
        kept = (taeda.randn(c).to(wide), taeda.rand(c).to(wide) + 1)
        for training in (True, False):
            def batch(x, w, b, mean, var):
                return F.batch_norm(x, mean, var, w, b, training)
            same(batch, ("batch", shape, dtype, training), x, w, b, running=kept)
x = taeda.randn(2, 18, 4, 5).to(memory_format=taeda.channels_last)
same(lambda x: F.batch_norm(x, None, None, training=True), "channels last", x)
for groups in (1, 2, 6):
    x, w, b = taeda.randn(3, 6, 5, 4), taeda.randn(6), taeda.randn(6)
    same(lambda x, w, b: F.group_norm(x, groups, w, b), ("group", groups), x, w, b)
    same(lambda x: F.group_norm(x, groups), ("group of none", groups), x)
same(lambda x: F.instance_norm(x), "instance", taeda.randn(2, 3, 40))
"""


#: few channels of much: groups of pieces of 4,096 that cross segments, end with them, and are left over
SPREAD = """
shapes = (
    (1, 2, 16384), (4, 17, 4096), (3, 16, 4097), (5, 18, 9000), (400, 16, 49), (2, 16, 30, 500),
    (97, 20, 129),
)
for shape in shapes:
    for dtype in (taeda.float32, taeda.float64):
        c = shape[1]
        x, w, b = taeda.randn(*shape).to(dtype), taeda.randn(c).to(dtype), taeda.randn(c).to(dtype)
        same(lambda x, w, b: F.batch_norm(x, None, None, w, b, True), ("spread", shape, dtype), x, w, b)
same(lambda x: F.group_norm(x, 2), "groups of much", taeda.randn(3, 4, 5000))
"""


@pytest.mark.slow
@pytest.mark.parametrize("program", [ROWS, CHANNELS, SPREAD], ids=["rows", "channels", "spread"])
def test_norms_have_the_processors_bits(program):
    standin.run(BEGIN + program, TAEDA_NULL_LATE="1")
