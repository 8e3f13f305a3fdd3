"""First and second derivatives of attention."""

from __future__ import annotations

import math

import numpy as np
import pytest
from differences import check, draw

import taeda
from taeda._C import _nn

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


def _ragged(q, k, v):
    ends = [0, 1, 1, 3], [0, 2, 2, 3]
    return _nn._ragged_attention(q, k, v, *ends, False, 0.5)[0]


@pytest.mark.parametrize(
    ("function", "shape"), [(attend, (1, 1, 3, 4)), (_ragged, (2, 3, 4))], ids=["batch", "ragged"]
)
def test_second_derivative_of_fused_attention(function, shape):
    """By differences of first derivatives, in float32."""
    q, k, v = (draw(*shape, seed=i).detach().float().requires_grad_() for i in range(3))
    along = taeda.ones(*shape) / math.sqrt(12)

    def slope(x, create_graph=False):
        made = function(x, k, v).sin().sum()
        return taeda.autograd.grad(made, x, create_graph=create_graph)[0]

    (second,) = taeda.autograd.grad((slope(q, True) * along).sum(), q)
    step = 1e-2
    with taeda.enable_grad():
        up = slope((q.detach() + step * along).requires_grad_())
        down = slope((q.detach() - step * along).requires_grad_())
    np.testing.assert_allclose(
        second.tolist(), ((up - down) / (2 * step)).tolist(), rtol=2e-2, atol=1e-3
    )
