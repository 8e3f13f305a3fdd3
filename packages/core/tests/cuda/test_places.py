"""Views that overlap, folds and borders on the stand-in driver: the processor's bits, forward and
backward.
"""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import standin

PROGRAM = """
import taeda
from taeda.nn import functional as F
taeda.manual_seed(0)
def same(what, f, x):
    results = []
    for move in (taeda.Tensor.clone, taeda.Tensor.cuda):
        leaf = move(x.detach()).requires_grad_()
        y = f(leaf)
        (y * move(taeda.arange(y.numel()).reshape(y.shape) % 7).to(y.dtype)).sum().backward()
        assert y.device == leaf.grad.device == leaf.device
        results.append((y.detach().cpu(), leaf.grad.cpu()))
    for a, b in zip(*results, strict=True):
        assert taeda.equal(a, b), (what, (a - b).abs().max())
for dtype in (taeda.float32, taeda.float64, taeda.bfloat16):
    same("windows", lambda x: x.unfold(1, 4, 2), taeda.randn(3, 11).to(dtype))
    same("windows of planes", lambda x: x.unfold(1, 3, 1).unfold(2, 3, 2), taeda.randn(2, 7, 9).to(dtype))
    same("strides", lambda x: x.as_strided((3, 4), (2, 1), 1), taeda.randn(12).to(dtype))
    same(
        "strides of an overlap",
        lambda x: x.expand(3, 4).as_strided((2, 3), (0, 1)),
        taeda.randn(4).to(dtype),
    )
    for mode in ("reflect", "replicate"):
        same(mode, lambda x: F.pad(x, (2, 1), mode=mode), taeda.randn(2, 3, 6).to(dtype))
        same(mode, lambda x: F.pad(x, (2, 0, 1, 3), mode=mode), taeda.randn(2, 3, 6, 5).to(dtype))
        same(
            mode,
            lambda x: F.pad(x, (2, -1, 0, 3), mode=mode),
            taeda.randn(2, 3, 6, 5).to(dtype).transpose(2, 3),
        )
        same(mode, lambda x: F.pad(x, (1, 1, 0, 2, 2, 1), mode=mode), taeda.randn(2, 3, 4, 5, 6).to(dtype))
    for options in (
        dict(kernel_size=3),
        dict(kernel_size=(2, 3), padding=1),
        dict(kernel_size=2, stride=2, dilation=2, padding=(0, 1)),
    ):
        x = taeda.randn(2, 3, 8, 9).to(dtype)
        columns = F.unfold(x, **options)
        same(("fold", options), lambda c: F.fold(c, (8, 9), **options), columns)
        same(("unfold", options), lambda x: F.unfold(x, **options), x)
        part = taeda.randn(3, *columns.shape).to(dtype)[1]
        same(("fold of a part", options), lambda c: F.fold(c[1], (8, 9), **options), part)
"""


@pytest.mark.slow
def test_places_are_the_processors():
    standin.run(PROGRAM, TAEDA_NULL_LATE="1", TAEDA_CUDA_FALLBACK="")
