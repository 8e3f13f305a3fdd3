"""Resampling on the stand-in driver: the processor's bits, forward and backward."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import standin

PROGRAM = """
import taeda
from taeda.nn import functional as F
taeda.manual_seed(0)
def same(what, x, **options):
    results = []
    for move in (taeda.Tensor.clone, taeda.Tensor.cuda):
        leaf = move(x).requires_grad_()
        y = F.interpolate(leaf, **options)
        (y * move(taeda.arange(y.numel()).reshape(y.shape) % 7).to(y.dtype)).sum().backward()
        assert y.device == leaf.device
        results.append((y.detach().cpu(), leaf.grad.cpu()))
    for a, b in zip(*results, strict=True):
        assert taeda.equal(a, b), (what, (a - b).abs().max())
for dtype in (taeda.float32, taeda.float64, taeda.bfloat16):
    for corners in (False, True):
        for mode, size, outs in (("linear", (9,), ((4,), (9,), (30,))),
                                 ("bilinear", (7, 9), ((3, 20), (14, 18))),
                                 ("bicubic", (7, 9), ((3, 20), (14, 18))),
                                 ("trilinear", (3, 4, 5), ((6, 2, 9),))):
            for out in outs:
                same(
                    (mode, out, dtype),
                    taeda.randn(2, 3, *size).to(dtype),
                    size=out,
                    mode=mode,
                    align_corners=corners,
                )
    same(
        ("smooth", dtype),
        taeda.randn(2, 3, 20, 30).to(dtype),
        size=(7, 11),
        mode="bilinear",
        antialias=True,
    )
    for mode in ("nearest", "nearest-exact"):
        same((mode, dtype), taeda.randn(2, 3, 7, 9).to(dtype), size=(14, 5), mode=mode)
same(
    "channels last",
    taeda.randn(2, 3, 6, 6).to(memory_format=taeda.channels_last),
    scale_factor=2,
    mode="bilinear",
)
try:
    F.interpolate(taeda.zeros(1, 3, 4, 4, dtype=taeda.uint8, device="cuda"), size=(2, 2), mode="bilinear")
except NotImplementedError as error:
    assert "bytes" in str(error), error
else:
    raise AssertionError("bytes have no kernel")
"""


@pytest.mark.slow
def test_resampling_has_the_processors_bits():
    standin.run(PROGRAM, TAEDA_NULL_LATE="1", TAEDA_CUDA_FALLBACK="")


SAMPLES = """
import taeda
F = taeda.nn.functional
def run(device, mode, padding):
    taeda.manual_seed(0)
    x = taeda.randn(2, 3, 5, 6).to(device).requires_grad_()
    grid = (taeda.rand(2, 4, 4, 2) * 2.4 - 1.2).to(device).requires_grad_()
    y = F.grid_sample(x, grid, mode=mode, padding_mode=padding, align_corners=False)
    y.pow(2).sum().backward()
    return [t.detach().cpu() for t in (y, x.grad, grid.grad)]
for mode in ("bilinear", "nearest", "bicubic"):
    for padding in ("zeros", "border", "reflection"):
        made, wanted = run("cuda", mode, padding), run("cpu", mode, padding)
        for a, b in zip(made, wanted, strict=True):
            assert taeda.allclose(a, b, rtol=1e-5, atol=2e-5), (mode, padding, (a - b).abs().max())
"""


def test_grids_are_sampled_by_single_operations():
    standin.run(SAMPLES)
