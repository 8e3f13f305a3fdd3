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
"""


@pytest.mark.slow
def test_resampling_has_the_processors_bits():
    standin.run(PROGRAM, TAEDA_NULL_LATE="1", TAEDA_CUDA_FALLBACK="")


BYTES = """
import itertools
import taeda
from taeda.nn import functional as F
taeda.manual_seed(0)
WAYS = [
    dict(mode=mode, antialias=smooth, **corners)
    for mode in ("nearest", "nearest-exact", "bilinear", "bicubic", "lanczos")
    for smooth in (False, True)
    for corners in ({}, {"align_corners": False}, {"align_corners": True})
]
PLACES = [dict(size=size) for size in ((3, 20), (14, 18), (7, 4), (1, 1), (7, 9))]
PLACES += [dict(scale_factor=(0.4, 2.7)), dict(scale_factor=(1.0, 1.5), recompute_scale_factor=True)]
def made(image, device, how):
    try:
        return F.interpolate(image.to(device), **how)
    except (RuntimeError, ValueError, NotImplementedError, IndexError) as error:
        return type(error), str(error)
images = [taeda.randint(0, 256, (2, 3, 7, 9), dtype=taeda.uint8)]
images += [(images[0] % 2) * 255, images[0][:0], images[0].mT.contiguous().mT]
images += [images[0].to(memory_format=taeda.channels_last)]
computed = 0
for image, way, place in itertools.product(images, WAYS, PLACES):
    wanted, there = (made(image, device, {**way, **place}) for device in ("cpu", "cuda"))
    if isinstance(wanted, tuple):
        assert there == wanted, (way, place, there, wanted)
        continue
    computed += image.numel() > 0
    assert there.device.type == "cuda" and there.dtype == wanted.dtype == taeda.uint8
    assert there.stride() == wanted.stride() and taeda.equal(there.cpu(), wanted), (way, place)
assert computed >= 200, computed
"""


@pytest.mark.slow
def test_images_of_bytes_are_the_processors():
    standin.run(BYTES, TAEDA_NULL_LATE="1", TAEDA_CUDA_FALLBACK="")


GRIDS = """
import taeda
F = taeda.nn.functional
inf, nan = float("inf"), float("nan")
ODD = taeda.tensor([-1.0, 1.0, 0.0, -1.5, 3.0, -0.0, 1e6, -1e6, inf, -inf, nan])
def grid_of(n, shape, dims, dtype):
    grid = taeda.rand(n, *shape, dims, dtype=dtype) * 3 - 1.5
    flat = grid.flatten()
    flat[:ODD.numel()] = ODD.to(dtype)
    flat[40:60] = 0.25  # many places that read the same pixels
    return flat.view_as(grid)
def run(device, x, grid, mode, padding, align):
    x, grid = (t.detach().to(device).requires_grad_() for t in (x, grid))
    y = F.grid_sample(x, grid, mode=mode, padding_mode=padding, align_corners=align)
    weight = (taeda.arange(y.numel()) % 7 + 0.1).reshape(y.shape).to(device, y.dtype)
    (y * weight).sum().backward()
    assert y.device == x.device
    return [t.detach().cpu() for t in (y, x.grad, grid.grad)]
def bits(t):
    return t.view(taeda.int32 if t.dtype == taeda.float32 else taeda.int64)
def same(what, x, grid, *how):
    made, wanted = run("cuda", x, grid, *how), run("cpu", x, grid, *how)
    for name, a, b in zip(("y", "x", "grid"), made, wanted, strict=True):
        equal = (bits(a) == bits(b)) | (a.isnan() & b.isnan())
        assert equal.all(), (what, how, name, (~equal).nonzero()[:3], a[~equal][:3], b[~equal][:3])
taeda.manual_seed(0)
for dtype in (taeda.float32, taeda.float64):
    for padding in ("zeros", "border", "reflection"):
        for align in (False, True):
            for mode in ("bilinear", "nearest", "bicubic"):
                how = (mode, padding, align)
                x = taeda.randn(2, 3, 5, 6, dtype=dtype)
                same("image", x, grid_of(2, (7, 9), 2, dtype), *how)
                same("a line", x[..., :1], grid_of(2, (3, 13), 2, dtype), *how)
                if mode != "bicubic":
                    deep = taeda.randn(2, 2, 3, 4, 5, dtype=dtype)
                    same("volume", deep, grid_of(2, (3, 4, 5), 3, dtype), *how)
x = taeda.randn(3, 2, 6, 5)
same("strides", x.mT, grid_of(3, (4, 5), 2, x.dtype).transpose(1, 2), "bilinear", "zeros", False)
same("no places", x, taeda.zeros(3, 0, 4, 2), "bilinear", "zeros", False)
same("no channels", x[:, :0], grid_of(3, (4, 5), 2, x.dtype), "bilinear", "zeros", False)
# more pairs than are sorted at once: some samples go first
many = taeda.randn(3, 1, 8, 8), taeda.rand(3, 300, 200, 2) * 2 - 1
same("in parts", *many, "bilinear", "border", False)
once = [run("cuda", *many, "bilinear", "border", False)[1] for _ in range(2)]
assert taeda.equal(*once)
g = taeda.randn(1, 2, 2, 2).cuda()
for call, words in (
    (lambda: F.grid_sample(x.cuda(), grid_of(3, (4, 5), 2, x.dtype), align_corners=False), "cuda:0"),
    (lambda: F.grid_sample(x.cuda(), g, align_corners=False), "batch size"),
):
    try:
        call()
    except RuntimeError as error:
        assert words in str(error), error
    else:
        raise AssertionError(words)
# gradients that are differentiated again, and short numbers, go by single operations
w = taeda.randn(1, 1, 3, 3, dtype=taeda.float64)
at = (taeda.rand(1, 2, 2, 2, dtype=taeda.float64) * 1.6 - 0.8)
def twice(device):
    a, b = (t.detach().to(device).requires_grad_() for t in (w, at))
    y = F.grid_sample(a, b, align_corners=False)
    (first,) = taeda.autograd.grad(y.pow(2).sum(), b, create_graph=True)
    return [t.cpu() for t in taeda.autograd.grad(first.pow(2).sum(), (a, b))]
for made, wanted in zip(twice("cuda"), twice("cpu"), strict=True):
    assert taeda.allclose(made, wanted, rtol=1e-9, atol=1e-9)
short = F.grid_sample(w.half().cuda(), at.half().cuda(), align_corners=False)
assert short.dtype == taeda.float16 and short.device.type == "cuda"
"""


@pytest.mark.slow
def test_sampling_by_a_grid_has_the_processors_bits():
    standin.run(GRIDS, TAEDA_NULL_LATE="1", TAEDA_CUDA_FALLBACK="")
