"""Attention on the stand-in driver: the processor's numbers within rounding, forward and backward, and
what it asks of the device.
"""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import standin

CLOSE = """
import taeda
from taeda.nn import functional as F
taeda.manual_seed(0)
def close(what, q, k, v, mask=None, dtype=taeda.float32, **options):
    results = []
    for device in ("cpu", "cuda"):
        leaves = [t.to(dtype).to(device).detach().requires_grad_() for t in (q, k, v)]
        y = F.scaled_dot_product_attention(*leaves, mask if mask is None else mask.to(device), **options)
        (y * (taeda.arange(y.numel(), device=device).reshape(y.shape) % 7).to(dtype)).sum().backward()
        assert y.device == leaves[0].device and y.dtype == dtype
        results.append([t.cpu().float() for t in (y.detach(), *[leaf.grad for leaf in leaves])])
    for k, (a, b) in enumerate(zip(*results, strict=True)):
        near = 1e-4 if dtype == taeda.float32 else 8 * taeda.finfo(dtype).eps
        near *= max(1.0, a.abs().max().item()) if a.numel() else 1
        assert a.shape == b.shape and (a - b).abs().le(near).all(), (what, dtype, k, (a - b).abs().max())
"""

PROGRAM = (
    CLOSE
    + """
for queries, keys, width, value_width in ((1, 1, 1, 1), (5, 7, 8, 8), (70, 70, 16, 20), (3, 130, 4, 70)):
    q, k = taeda.randn(2, 4, queries, width), taeda.randn(2, 4, keys, width)
    v = taeda.randn(2, 4, keys, value_width)
    mask = taeda.randn(queries, keys)
    mask[0] = -float("inf")  # a query that sees nothing
    for dtype in (taeda.float32, taeda.bfloat16, taeda.float16):
        close(("plain", queries, keys), q, k, v, dtype=dtype)
        close(("causal", queries, keys), q, k, v, is_causal=True, dtype=dtype)
        close(("mask", queries, keys), q, k, v, mask, dtype=dtype)
        close(("masks of heads", queries, keys), q, k, v, taeda.randn(2, 1, queries, keys) > 0, dtype=dtype)
        close(("groups", queries, keys), q, k[:, :2], v[:, :2], enable_gqa=True, is_causal=True, dtype=dtype)
q, k, v = taeda.randn(2, 9, 3, 4, 8).unbind(2)  # views of one projection
close("views", *[t.transpose(1, 2) for t in (q, k, v)], is_causal=True)
close("one head", *[taeda.randn(3, 5, 4) for _ in "qkv"])
for q, k in ((0, 3), (3, 0), (0, 0)):
    close("empty", taeda.randn(2, 2, q, 4), taeda.randn(2, 2, k, 4), taeda.randn(2, 2, k, 4))
"""
)


@pytest.mark.slow
def test_attention_is_close_to_the_processors():
    standin.run(PROGRAM, TAEDA_NULL_LATE="1")


#: scores of more than 32 MiB: heads, or blocks of queries, one after the other
PARTS = (
    standin.COUNTS
    + CLOSE
    + """
def counts(q, k, **options):
    def backward():
        y.backward(taeda.ones_like(y))
    leaves = [taeda.randn(*sizes, device="cuda").requires_grad_() for sizes in (q, k, k)]
    forward, y = counted(lambda: F.scaled_dot_product_attention(*leaves, **options))
    g = taeda.ones_like(y)
    back, _ = counted(lambda: taeda.autograd.grad(y, leaves, g))
    assert not forward["waits"] and not back["waits"]
    return [(c["launches"], c["products"]) for c in (forward, back)]
# a head has 24 MiB of scores, then 3 heads of 40 MiB each are cut into blocks of queries
assert counts((1, 3, 2500, 1), (1, 3, 2500, 1)) == [(3, 6), (3, 15)]
close("heads", *[taeda.randn(1, 2, 2200, 1) for _ in "qkv"])
for dtype in (taeda.float32, taeda.bfloat16):
    close("blocks", taeda.randn(1, 1, 3000, 2), *[taeda.randn(1, 1, 3100, 2) for _ in "kv"], is_causal=True,
          dtype=dtype)
"""
)


@pytest.mark.slow
def test_many_scores_are_made_in_parts():
    standin.run(PARTS)


COUNTED = (
    standin.COUNTS
    + """
import taeda
from taeda.nn import functional as F
def counts(q, k, dtype=taeda.float32, views=False, **options):
    leaves = [taeda.ones(*sizes, device="cuda", dtype=dtype).requires_grad_() for sizes in (q, k, k)]
    heads = [leaf.transpose(1, 2) for leaf in leaves] if views else leaves
    forward, y = counted(lambda: F.scaled_dot_product_attention(*heads, **options))
    g = taeda.ones_like(y)
    back, _ = counted(lambda: taeda.autograd.grad(y, heads, g))
    assert not any(c["waits"] or c["to_host"] or c["to_device"] for c in (forward, back))
    return [(c["launches"], c["products"]) for c in (forward, back)]
for dtype in (taeda.float32, taeda.bfloat16, taeda.float16):  # nothing is cast
    assert counts((1, 4, 64, 16), (1, 4, 64, 16), dtype) == [(1, 2), (1, 5)], dtype
    # samples together: results lie as [batch, query, head, element], so they move
    assert counts((3, 4, 64, 16), (3, 4, 64, 16), dtype) == [(2, 2), (6, 5)], dtype
    assert counts((3, 64, 4, 16), (3, 64, 4, 16), dtype, views=True) == [(5, 2), (9, 5)], dtype
    # groups: queries of heads that share keys are rows of one matrix
    assert counts((1, 4, 64, 16), (1, 2, 64, 16), dtype, enable_gqa=True) == [(2, 2), (4, 5)], dtype
"""
)


@pytest.mark.slow
def test_attention_is_products_without_casts():
    standin.run(COUNTED)
