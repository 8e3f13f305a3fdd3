"""Fused attention on the stand-in driver: the processor's numbers within rounding, forward and backward."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import standin

PROGRAM = """
import taeda
from taeda.nn import functional as F
taeda.manual_seed(0)
def close(what, q, k, v, mask=None, **options):
    results = []
    for move in (taeda.Tensor.clone, taeda.Tensor.cuda):
        leaves = [move(t).requires_grad_() for t in (q, k, v)]
        y = F.scaled_dot_product_attention(*leaves, mask if mask is None else move(mask), **options)
        (y * move(taeda.arange(y.numel()).reshape(y.shape) % 7)).sum().backward()
        assert y.device == leaves[0].device
        results.append([t.cpu() for t in (y.detach(), *[leaf.grad for leaf in leaves])])
    for k, (a, b) in enumerate(zip(*results, strict=True)):
        assert taeda.allclose(a, b, rtol=1e-4, atol=1e-4), (what, k, (a - b).abs().max())
for queries, keys, width, value_width in ((1, 1, 1, 1), (5, 7, 8, 8), (70, 70, 16, 20), (3, 130, 4, 70)):
    q, k = taeda.randn(2, 4, queries, width), taeda.randn(2, 4, keys, width)
    v = taeda.randn(2, 4, keys, value_width)
    close(("plain", queries, keys), q, k, v)
    close(("causal", queries, keys), q, k, v, is_causal=True)
    mask = taeda.randn(queries, keys)
    mask[0] = -float("inf")  # a query that sees nothing
    close(("mask", queries, keys), q, k, v, mask)
    close(("groups", queries, keys), q, k[:, :2], v[:, :2], enable_gqa=True, is_causal=True)
q, k, v = taeda.randn(2, 9, 3, 4, 8).unbind(2)  # views of one projection
close("views", *[t.transpose(1, 2) for t in (q, k, v)], is_causal=True)
"""


@pytest.mark.slow
def test_attention_is_close_to_the_processors():
    standin.run(PROGRAM, TAEDA_NULL_LATE="1")
