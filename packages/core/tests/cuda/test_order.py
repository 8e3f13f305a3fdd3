"""Ranks, unique elements and counts on the stand-in driver: the processor's bits and places."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import standin

PROGRAM = """
import taeda
taeda.manual_seed(0)
nan = float("nan")
def same(f, what, *given):
    results = []
    for move in (taeda.Tensor.clone, taeda.Tensor.cuda):
        made = f(*map(move, given))
        made = tuple(made) if isinstance(made, tuple) else (made,)
        assert all(t.device == move(given[0]).device for t in made), what
        results.append([t.cpu() for t in made])
    for a, b in zip(*results, strict=True):
        assert a.dtype == b.dtype and a.shape == b.shape, what
        assert ((a == b) | ((a != a) & (b != b))).all(), (what, a, b)
numbers = (taeda.float32, taeda.float64, taeda.bfloat16, taeda.int64, taeda.uint8)
for shape, dim in (((1,), 0), ((7,), 0), ((4, 9), 1), ((9, 4), 0), ((3, 8, 5), 1)):
    for dtype in numbers:
        x = (taeda.randn(shape) * 4).round().abs().to(dtype)  # equal elements
        for keep in (False, True):
            for name in ("median", "nanmedian", "mode"):
                same(lambda x: getattr(x, name)(dim, keep), (name, shape, dtype), x)
            same(lambda x: x.kthvalue((x.size(dim) + 1) // 2, dim, keep), ("kthvalue", shape, dtype), x)
        same(taeda.median, ("median of all", shape, dtype), x)
        same(taeda.unique, ("unique", shape, dtype), x)
        same(lambda x: taeda.unique(x, return_inverse=True, return_counts=True), ("unique2", shape, dtype), x)
        same(
            lambda x: taeda.unique(x, dim=dim, return_inverse=True, return_counts=True),
            ("unique of slices", shape, dtype),
            x,
        )
        same(
            lambda x: taeda.unique_consecutive(x, return_inverse=True, return_counts=True),
            ("runs", shape, dtype),
            x,
        )
for dtype in (taeda.float32, taeda.float64, taeda.float16):
    for row in (
        [nan, 1.0, 2.0],
        [3.0, nan, nan, -1.0],
        [nan, nan],
        [0.0, -0.0, 1.0],
        [float("inf"), -float("inf"), 0.0],
    ):
        x = taeda.tensor([row, row[::-1]], dtype=dtype)
        for name in ("median", "nanmedian", "mode"):
            same(lambda x: getattr(x, name)(1), (name, row), x)
        same(taeda.nanmedian, ("nanmedian of all", row), x)
        same(lambda x: taeda.unique(x, return_counts=True), ("unique", row), x)
same(taeda.median, "median of none", taeda.zeros(0))
x = taeda.randint(0, 20, (300,))
same(taeda.bincount, "bincount", x)
same(lambda x: taeda.bincount(x, minlength=40), "bincount, longer", x)
same(taeda.bincount, "bincount, weights", x, taeda.randn(300))
same(taeda.bincount, "bincount, double", x, taeda.randn(300, dtype=taeda.float64))
same(taeda.bincount, "bincount of none", x[:0])
same(taeda.repeat_interleave, "repeats", taeda.tensor([2, 0, 3]))
same(
    lambda x, n: x.repeat_interleave(n, 1),
    "repeats of a dimension",
    taeda.randn(2, 3),
    taeda.tensor([2, 0, 3]),
)
for refused, text in (
    (lambda: taeda.bincount(taeda.tensor([-1]).cuda()), "negative"),
    (lambda: taeda.repeat_interleave(taeda.tensor([-1]).cuda()), "negative"),
):
    try:
        refused()
    except RuntimeError as error:
        assert text in str(error), error
    else:
        raise AssertionError(text)
a, b = taeda.randint(-9, 9, (3, 4)).to(taeda.int8), taeda.randint(-9, 9, (4, 5)).to(taeda.int8)
same(taeda._int_mm, "int8", a, b)
for dims in ((0, 1), (1, 2), (0, 2), (0, 1, 2)):
    x = taeda.randn(3, 4, 5)
    results = [taeda.logsumexp(t, dims) for t in (x, x.cuda())]
    assert taeda.allclose(results[0], results[1].cpu(), rtol=1e-6), dims
"""


@pytest.mark.slow
def test_order_is_the_processors():
    standin.run(PROGRAM, TAEDA_NULL_LATE="1", TAEDA_CUDA_FALLBACK="")
