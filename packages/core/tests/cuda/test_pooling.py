"""Pooling on the stand-in driver: the processor's bits and places, forward and backward, in one to
three dimensions.
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
def same(f, what, x):
    results = []
    for move in (taeda.Tensor.clone, taeda.Tensor.cuda):
        leaf = move(x)
        if x.is_floating_point():
            leaf.requires_grad_()
        made = f(leaf)
        y, *rest = made if isinstance(made, tuple) else (made,)
        assert y.device == leaf.device
        if x.is_floating_point():
            (y * move(taeda.arange(y.numel()).reshape(y.shape) % 7).to(y.dtype)).sum().backward()
            rest.append(leaf.grad)
        results.append([t.cpu() for t in (y.detach(), *rest)])
    for a, b in zip(*results, strict=True):
        assert ((a == b) | ((a != a) & (b != b))).all(), (what, a, b)
"""
WINDOWS = """
for dims, size, kernel, stride, padding, dilation in [
    (1, (37,), 3, 2, 1, 1), (1, (300,), 3, 1, 1, 2), (1, (2,), 2, 1, 1, 3),
    (2, (8, 9), 2, 2, 0, 1), (2, (7, 9), (3, 2), (1, 2), (1, 0), (2, 1)), (2, (4, 140), 3, 1, 1, 1),
    (3, (4, 5, 6), 2, 1, 1, 1),
]:
    most, average = getattr(F, f"max_pool{dims}d"), getattr(F, f"avg_pool{dims}d")
    for dtype in (taeda.float32, taeda.float64, taeda.bfloat16):
        x = taeda.randn(2, 3, *size).to(dtype)
        x[0, 0].view(-1)[:2] = float("nan")
        what = (dims, size, kernel, dtype)
        same(lambda x: most(x, kernel, stride, padding, dilation), ("max", what), x)
        same(lambda x: most(x, kernel, stride, padding, dilation, return_indices=True), ("places", what), x)
        if dilation == 1:
            for counts in (True, False):
                same(
                    lambda x: average(x, kernel, stride, padding, count_include_pad=counts),
                    ("average", what),
                    x,
                )
    for dtype in (taeda.uint8, taeda.int8, taeda.int64):
        same(
            lambda x: most(x, kernel, stride, padding, dilation),
            ("max", dtype),
            (taeda.randn(2, 3, *size) * 9).to(dtype),
        )
for dtype in (taeda.uint8, taeda.int8, taeda.int32):  # windows in the padding altogether
    same(lambda x: F.max_pool2d(x, 2, 1, 2, 3), ("padding", dtype), taeda.ones(1, 1, 1, 1, dtype=dtype))
same(lambda x: F.avg_pool2d(x, 3, 2, ceil_mode=True, divisor_override=5), "divisor", taeda.randn(2, 2, 8, 8))
same(
    lambda x: F.max_pool2d(x, 3, 2, 1),
    "channels last",
    taeda.randn(2, 3, 8, 8).to(memory_format=taeda.channels_last),
)
"""
PARTS = """
for dims, size, outs in [(1, (37,), (1, 5, 37, 50)), (2, (7, 70), (1, 4, 9)), (3, (4, 5, 6), (1, 3))]:
    for out in outs:
        for dtype in (taeda.float32, taeda.float64, taeda.bfloat16):
            x, what = taeda.randn(2, 3, *size).to(dtype), (dims, size, out, dtype)
            same(lambda x: getattr(F, f"adaptive_avg_pool{dims}d")(x, out), ("average", what), x)
            same(
                lambda x: getattr(F, f"adaptive_max_pool{dims}d")(x, out, return_indices=True),
                ("max", what),
                x,
            )
"""


@pytest.mark.slow
@pytest.mark.parametrize("program", [WINDOWS, PARTS], ids=["windows", "parts"])
def test_pooling_has_the_processors_bits(program):
    standin.run(BEGIN + program, TAEDA_NULL_LATE="1")
