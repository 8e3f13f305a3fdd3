"""First and second derivatives of sums of products: matrices, convolutions, attention."""

from __future__ import annotations

import math

import numpy as np
import pytest

import taeda
from taeda._C import _nn
from taeda.autograd import gradcheck, gradgradcheck


def draw(*shape, seed=0, dtype=taeda.float64):
    rng = np.random.default_rng(seed)
    made = taeda.from_numpy(rng.standard_normal(shape))
    if dtype is taeda.complex128:
        made = taeda.complex(made, taeda.from_numpy(rng.standard_normal(shape)))
    return made.requires_grad_()


def check(function, *shapes, dtype=taeda.float64, twice=True):
    inputs = [draw(*s, seed=i, dtype=dtype) for i, s in enumerate(shapes)]
    assert gradcheck(function, inputs, check_forward_ad=True)
    if twice:
        assert gradgradcheck(function, inputs, check_fwd_over_rev=True)


# ---- matrices ----

PRODUCTS = {
    "mm": (taeda.mm, (2, 3), (3, 4)),
    "mm of a transpose": (lambda a, b: a.t() @ b.t(), (3, 2), (4, 3)),
    "bmm": (taeda.bmm, (2, 2, 3), (2, 3, 2)),
    "mv": (taeda.mv, (2, 3), (3,)),
    "dot": (taeda.dot, (3,), (3,)),
    "vdot": (taeda.vdot, (3,), (3,)),
    "inner": (taeda.inner, (2, 3), (4, 3)),
    "outer": (taeda.outer, (2,), (3,)),
    "vector @ matrix": (taeda.matmul, (3,), (3, 2)),
    "vector @ batch": (taeda.matmul, (3,), (2, 3, 2)),
    "batch @ vector": (taeda.matmul, (2, 2, 3), (3,)),
    "batch @ matrix": (taeda.matmul, (2, 2, 3), (3, 2)),
    "broadcast batches": (taeda.matmul, (2, 1, 2, 3), (3, 3, 2)),
    "addmm": (lambda s, a, b: taeda.addmm(s, a, b, beta=0.5, alpha=2), (2, 2), (2, 3), (3, 2)),
    "addmm of a row": (taeda.addmm, (2,), (2, 3), (3, 2)),
    "addmv": (lambda s, a, b: taeda.addmv(s, a, b, beta=2, alpha=0.5), (2,), (2, 3), (3,)),
    "baddbmm": (lambda s, a, b: taeda.baddbmm(s, a, b, alpha=2), (2, 2, 2), (2, 2, 3), (2, 3, 2)),
    "addbmm": (lambda s, a, b: taeda.addbmm(s, a, b, beta=3), (2, 2), (2, 2, 3), (2, 3, 2)),
    "addr": (lambda s, a, b: taeda.addr(s, a, b, alpha=2), (2, 3), (2,), (3,)),
    "linear": (_nn.linear, (2, 3), (4, 3), (4,)),
    "linear of a batch": (_nn.linear, (2, 2, 3), (4, 3), (4,)),
    "bilinear": (taeda.bilinear, (2, 3), (2, 2), (4, 3, 2), (4,)),
    "einsum": (lambda a, b: taeda.einsum("bij,bkj->ik", a, b), (2, 2, 3), (2, 4, 3)),
    "einsum of a diagonal": (lambda a: taeda.einsum("ii->i", a), (3, 3)),
    "tensordot": (lambda a, b: taeda.tensordot(a, b, 2), (2, 3, 2), (3, 2, 2)),
    "kron": (taeda.kron, (2, 2), (1, 3)),
    "multi_dot": (lambda a, b, c: taeda.linalg.multi_dot([a, b, c]), (2, 3), (3, 1), (1, 2)),
    "nothing to sum": (taeda.mm, (2, 0), (0, 3)),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_products(name):
    function, *shapes = PRODUCTS[name]
    check(function, *shapes)


@pytest.mark.parametrize("name", ["mm", "mv", "dot", "vdot", "outer", "addmm", "baddbmm", "linear"])
def test_products_of_complex_numbers(name):
    function, *shapes = PRODUCTS[name]
    check(function, *shapes, dtype=taeda.complex128)


def test_conjugated_factor():
    check(lambda a, b: a.mH @ b.conj(), (3, 2), (3, 2), dtype=taeda.complex128)


# ---- convolutions ----

CONVOLUTIONS = {
    "conv1d": (lambda x, w, b: taeda.conv1d(x, w, b, stride=2, padding=1), (2, 2, 6), (3, 2, 3), (3,)),
    "conv1d without a batch": (taeda.conv1d, (2, 5), (3, 2, 2)),
    "conv1d same": (lambda x, w: taeda.conv1d(x, w, padding="same"), (1, 2, 5), (2, 2, 2)),
    "conv2d": (lambda x, w, b: taeda.conv2d(x, w, b, padding=1), (1, 2, 4, 3), (2, 2, 3, 3), (2,)),
    "conv2d strided": (lambda x, w: taeda.conv2d(x, w, stride=(2, 1), padding=(0, 1)), (1, 2, 5, 4), (2, 2, 2, 3)),
    "conv2d dilated": (lambda x, w: taeda.conv2d(x, w, dilation=2), (1, 2, 5, 5), (1, 2, 2, 2)),
    "conv2d in groups": (lambda x, w: taeda.conv2d(x, w, groups=2), (1, 4, 3, 3), (4, 2, 2, 2)),
    "conv2d of channels": (lambda x, w: taeda.conv2d(x, w, groups=3, padding=1), (1, 3, 3, 3), (3, 1, 3, 3)),
    "conv2d of points": (taeda.conv2d, (2, 3, 2, 2), (2, 3, 1, 1)),
    "conv2d of a transpose": (lambda x, w: taeda.conv2d(x.mT, w.mT), (1, 2, 4, 3), (2, 2, 2, 2)),
    "conv3d": (lambda x, w: taeda.conv3d(x, w, padding=(1, 0, 0)), (1, 1, 2, 3, 3), (2, 1, 2, 2, 2)),
    "conv_transpose1d": (lambda x, w, b: taeda.conv_transpose1d(x, w, b, stride=2, output_padding=1), (1, 2, 3), (2, 2, 3), (2,)),
    "conv_transpose2d": (lambda x, w: taeda.conv_transpose2d(x, w, padding=1, groups=2), (1, 2, 3, 3), (2, 1, 3, 3)),
    "conv_transpose3d": (taeda.conv_transpose3d, (1, 1, 2, 2, 2), (1, 1, 2, 2, 2)),
    "an empty batch": (taeda.conv2d, (0, 2, 3, 3), (1, 2, 2, 2)),
}  # fmt: skip


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolutions(name):
    function, *shapes = CONVOLUTIONS[name]
    check(function, *shapes)


def test_convolution_of_complex_numbers():
    check(taeda.conv1d, (1, 2, 4), (2, 2, 2), dtype=taeda.complex128)


@pytest.mark.parametrize(
    "size", [(2, 16, 8, 8, 16, 3), (1, 8, 9, 11, 4, 5), (2, 3, 12, 12, 8, 7)], ids=str
)
def test_fast_kernels_agree_with_double_precision(size):
    """float32 has kernels of its own; the same sums in float64 go another way."""
    n, c, h, w, o, k = size
    x, weight = draw(n, c, h, w).detach(), draw(o, c, k, k, seed=1).detach()
    made = []
    for dtype in (taeda.float32, taeda.float64):
        leaves = [t.to(dtype).requires_grad_() for t in (x, weight)]
        y = taeda.conv2d(*leaves, padding=k // 2)
        y.backward(taeda.ones_like(y))
        made.append((y, leaves[0].grad, leaves[1].grad))
    for fast, exact in zip(*made, strict=True):
        np.testing.assert_allclose(fast.tolist(), exact.tolist(), rtol=1e-4, atol=1e-3)


# ---- attention ----

attend = _nn.scaled_dot_product_attention
HEADS = ((1, 2, 3, 4), (1, 2, 5, 4), (1, 2, 5, 4))
MASK = taeda.tensor([[True, True, False, True, False], [False] * 5, [True] * 5])
ATTENTION = {
    "plain": lambda q, k, v: attend(q, k, v),
    "causal": lambda q, k, v: attend(q, k, v, is_causal=True),
    "masked": lambda q, k, v: attend(q, k, v, attn_mask=MASK),
    "scaled": lambda q, k, v: attend(q, k, v, scale=0.1),
}


@pytest.mark.parametrize("name", ATTENTION)
def test_attention(name):
    check(ATTENTION[name], *HEADS)


def test_attention_with_a_mask_that_is_learnt():
    check(lambda q, k, v, m: attend(q, k, v, attn_mask=m), (2, 2, 3), (2, 3, 3), (2, 3, 3), (2, 3))


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("shape", [(1, 2, 33, 16), (2, 1, 70, 8)], ids=str)
def test_fused_attention_agrees_with_double_precision(shape, causal):
    tensors = [draw(*shape, seed=i).detach() for i in range(3)]
    made = []
    for dtype in (taeda.float32, taeda.float64):
        leaves = [t.to(dtype).requires_grad_() for t in tensors]
        y = attend(*leaves, is_causal=causal)
        (y * y.detach().cos()).sum().backward()
        made.append((y, *(t.grad for t in leaves)))
    for fast, exact in zip(*made, strict=True):
        np.testing.assert_allclose(fast.tolist(), exact.tolist(), rtol=1e-4, atol=1e-4)


def test_second_derivative_of_fused_attention():
    """By differences of first derivatives, in float32."""
    q, k, v = (draw(1, 1, 3, 4, seed=i).detach().float().requires_grad_() for i in range(3))
    along = taeda.ones(1, 1, 3, 4) / math.sqrt(12)

    def slope(x, create_graph=False):
        return taeda.autograd.grad(attend(x, k, v).sin().sum(), x, create_graph=create_graph)[0]

    (second,) = taeda.autograd.grad((slope(q, True) * along).sum(), q)
    step = 1e-2
    with taeda.enable_grad():
        up = slope((q.detach() + step * along).requires_grad_())
        down = slope((q.detach() - step * along).requires_grad_())
    np.testing.assert_allclose(
        second.tolist(), ((up - down) / (2 * step)).tolist(), rtol=2e-2, atol=1e-3
    )
