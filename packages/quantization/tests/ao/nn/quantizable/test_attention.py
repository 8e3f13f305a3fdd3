"""Attention that can be observed."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.ao import quantization as q
from taeda.ao.nn import quantizable


@pytest.mark.parametrize(
    "facts",
    [
        {},
        {"add_bias_kv": True},
        {"add_zero_attn": True},
        {"batch_first": True},
        {"kdim": 6, "vdim": 5},
    ],
)
def test_it_computes_what_the_float_one_does(facts):
    layer = nn.MultiheadAttention(8, 2, **facts).eval()
    layer.qconfig = q.default_qconfig
    made = quantizable.MultiheadAttention.from_float(layer)
    x = taeda.randn(3, 2, 8)
    key, value = (taeda.randn(3, 2, facts.get(n, 8)) for n in ("kdim", "vdim"))
    (one, weights), (wanted, others) = made(x, key, value), layer(x, key, value)
    assert taeda.allclose(one, wanted, atol=1e-5)
    assert taeda.allclose(weights, others, atol=1e-5)
    assert taeda.allclose(made.dequantize().eval()(x, key, value)[0], wanted, atol=1e-5)


def test_masks():
    layer = nn.MultiheadAttention(8, 2).eval()
    layer.qconfig = q.default_qconfig
    made = quantizable.MultiheadAttention.from_float(layer)
    x = taeda.randn(3, 2, 8)
    mask = taeda.ones(3, 3, dtype=taeda.bool).triu(1)
    padding = taeda.tensor([[False, False, True], [False, False, False]])
    facts = {"attn_mask": mask, "key_padding_mask": padding}
    assert taeda.allclose(made(x, x, x, **facts)[0], layer(x, x, x, **facts)[0], atol=1e-5)
    with pytest.raises(RuntimeError, match="give the mask"):
        made(x, x, x, is_causal=True)
    with pytest.raises(AssertionError, match="with a qconfig"):
        quantizable.MultiheadAttention.from_float(nn.MultiheadAttention(8, 2))
