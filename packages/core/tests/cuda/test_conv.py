"""Convolutions on the stand-in driver, forward and backward: the processor's numbers, exactly for
integers.
"""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import standin

PROGRAM = """
import taeda
taeda.manual_seed(0)
def results(move, x, w, b, *rest):
    leaves = [move(t).requires_grad_() for t in (x, w, b)]
    y = taeda.convolution(*leaves, *rest)
    (y * move(taeda.arange(y.numel()).reshape(y.shape) % 7)).sum().backward()
    assert y.device == leaves[0].device
    return [t.cpu() for t in (y.detach(), *[leaf.grad for leaf in leaves])]
for size, groups, kernel, stride, padding, dilation, transposed, extra in [
    ((9,), 1, (3,), [2], [1], [1], False, [0]),
    ((8, 7), 2, (3, 2), [1, 2], [1, 0], [2, 1], False, [0, 0]),
    ((8, 7), 2, (3, 2), [3, 2], [1, 1], [2, 1], True, [1, 0]),
    ((4, 5, 4), 1, (2, 3, 1), [1, 1, 2], [0, 1, 0], [1, 1, 1], False, [0, 0, 0]),
]:
    x = taeda.randn(2, 4, *size)
    w = taeda.randn(4, 6 // groups, *kernel) if transposed else taeda.randn(6, 4 // groups, *kernel)
    rest = (taeda.randn(6), stride, padding, dilation, transposed, extra, groups)
    for a, b in zip(
        results(taeda.Tensor.clone, x, w, *rest),
        results(taeda.Tensor.cuda, x, w, *rest),
        strict=True,
    ):
        assert taeda.allclose(a, b, rtol=1e-4, atol=1e-4), (size, transposed, (a - b).abs().max())
    for short in (taeda.float16, taeda.bfloat16):
        wanted = results(lambda t: t.to(short), x, w, *rest)
        made = results(lambda t: t.to("cuda", short), x, w, *rest)
        for a, b in zip(wanted, made, strict=True):
            near = 2 * taeda.finfo(short).eps * a.float().abs().max()
            assert b.dtype == short and (a.float() - b.float()).abs().max() <= near, (size, short)
    whole = [(t * 5).long() for t in (x, w, rest[0])]
    wanted, made = (
        taeda.convolution(*whole, *rest[1:]),
        taeda.convolution(*[t.cuda() for t in whole], *rest[1:]),
    )
    assert taeda.equal(made.cpu(), wanted)
"""


@pytest.mark.slow
def test_convolutions_are_the_processors():
    standin.run(PROGRAM, TAEDA_NULL_LATE="1")


# what a convolution asks of the device; a channel has 64 pixels
COUNTED = (
    standin.COUNTS
    + """
import taeda
from taeda.nn import functional as F
def step(x, w, b, **options):
    y = F.conv2d(x, w, b, **options)
    return y, taeda.autograd.grad(y, [x, w, b], taeda.ones_like(y))
def leaves(*sizes, dtype=taeda.float32):
    return [taeda.ones(*size, device="cuda", dtype=dtype).requires_grad_() for size in sizes]
def counts(kernel, groups=1, images=2, dtype=taeda.float32, **options):
    x, w, b = leaves((images, 8, 8, 8), (16, 8 // groups, kernel, kernel), (16,), dtype=dtype)
    forward, y = counted(lambda: F.conv2d(x, w, b, groups=groups, **options))
    g = taeda.ones_like(y)
    data, _ = counted(lambda: taeda.autograd.grad(y, x, g, retain_graph=True))
    weight, _ = counted(lambda: taeda.autograd.grad(y, w, g))
    assert not any(c["waits"] or c["to_host"] for c in (forward, data, weight))
    return [(c["launches"], c["products"]) for c in (forward, data, weight)]
for dtype in (taeda.float32, taeda.bfloat16, taeda.float16):  # nothing is cast
    # the bias, columns and a product; turned weights and columns; rows and columns
    assert counts(3, padding=1, dtype=dtype) == [(2, 1), (2, 1), (2, 1)], dtype
    assert counts(3, padding=1, dtype=dtype, images=1)[2] == (1, 1), dtype
    assert counts(1, dtype=dtype) == [(1, 1), (0, 1), (2, 1)], dtype
    assert counts(1, dtype=dtype, images=1) == [(1, 1), (0, 1), (0, 1)], dtype
assert counts(3, padding=1, groups=2) == [(2, 2), (2, 2), (2, 1)]  # a product for each of the fewer
assert counts(3, padding=1, groups=8) == [(1, 0), (1, 0), (1, 0)]  # depthwise: no products
"""
)


@pytest.mark.slow
def test_convolutions_are_products_of_the_device_without_casts():
    standin.run(COUNTED)


#: gigabytes of columns are made in parts: the sums of the parts meet
PARTS = (
    standin.COUNTS
    + """
import taeda
from taeda.nn import functional as F
taeda.manual_seed(0)
x, w = taeda.randn(3, 4, 300, 300), taeda.randn(2, 4, 5, 5)  # 36 MB of columns an image
counts, y = counted(lambda: F.conv2d(x.cuda(), w.cuda(), padding=2))
assert counts["products"] == 6 and counts["launches"] == 6, counts
assert taeda.allclose(y.cpu(), F.conv2d(x, w, padding=2), rtol=1e-4, atol=1e-3)
assert taeda.cuda.max_memory_allocated() < 48 << 20, taeda.cuda.max_memory_allocated()
"""
)


@pytest.mark.slow
def test_columns_are_made_in_parts_of_32_mib():
    standin.run(PARTS)


#: the gradient of weights joins the sums of several parts; 16 bits become float32 before they do
SUMS = """
import taeda
from taeda._native import core
from taeda.nn import functional as F
taeda.manual_seed(0)
assert core.cuda_conv_columns(16384) == 1 << 30
for images, size in ((5, 6), (2, 20)):  # parts of whole images, and of pixels
    x, w, g = taeda.randn(images, 4, size, size), taeda.randn(6, 2, 3, 3), taeda.randn(images, 6, size, size)
    gradients = []
    for move in (taeda.Tensor.clone, taeda.Tensor.cuda, lambda t: t.to("cuda", taeda.float16)):
        leaf = move(w).requires_grad_()
        y = F.conv2d(move(x), leaf, padding=1, groups=2)
        gradients.append(taeda.autograd.grad(y, leaf, move(g))[0].cpu().float())
    a, b, c = gradients
    assert taeda.allclose(a, b, rtol=1e-4, atol=1e-4), (a - b).abs().max()
    assert taeda.allclose(a, c, rtol=1e-2, atol=2e-3 * a.abs().max().item()), (a - c).abs().max()
"""


def test_sums_of_many_columns_are_joined():
    standin.run(SUMS)
