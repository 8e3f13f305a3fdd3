"""Attention of several heads, and its gradient."""

from __future__ import annotations

import pytest

import taeda
from taeda.nn.functional import scaled_dot_product_attention


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(
    ("queries", "keys"), [(1, 40), (4, 700), (6, 256), (7, 257), (130, 300), (300, 300)]
)
def test_weights_of_the_gradient_add_up_to_one(queries, keys, causal):
    """The gradient of the values' sum is the number of queries, however large the scores are."""
    taeda.manual_seed(3)
    q, k = taeda.randn(1, 2, queries, 10) * 30, taeda.randn(1, 2, keys, 10)
    v = taeda.randn(1, 2, keys, 5, requires_grad=True)
    made = scaled_dot_product_attention(q, k, v, scale=1.7, is_causal=causal)
    made.sum().backward()
    assert ((v.grad.double().sum(-2) - queries).abs() < queries * 4e-7).all()
