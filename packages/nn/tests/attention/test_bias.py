"""Causal masks by their meaning."""

from __future__ import annotations

import pytest

import taeda
from taeda.nn.attention import bias
from taeda.nn.functional import scaled_dot_product_attention


def inputs(queries=4, keys=6):
    taeda.manual_seed(0)
    return taeda.randn(1, 2, queries, 8), taeda.randn(1, 2, keys, 8), taeda.randn(1, 2, keys, 8)


@pytest.mark.parametrize(
    ("make", "diagonal"), [(bias.causal_upper_left, 0), (bias.causal_lower_right, 2)]
)
def test_causal_masks(make, diagonal):
    mask = make(4, 6)
    expected = taeda.ones(4, 6, dtype=taeda.bool).tril(diagonal)
    assert taeda.equal(mask.materialize(), expected)
    assert taeda.equal(mask._materialize("cpu"), expected)
    q, k, v = inputs()
    given = scaled_dot_product_attention(q, k, v, mask)
    assert taeda.allclose(given, scaled_dot_product_attention(q, k, v, expected), atol=1e-5)


def test_refusals():
    with pytest.raises(RuntimeError, match="exactly 2 sizes"):
        bias.causal_upper_left(4)
    with pytest.raises(RuntimeError, match=r"will produce NaNs.*6 and 4"):
        bias.causal_lower_right(6, 4)
    with pytest.raises(TypeError, match="must be a CausalVariant"):
        bias.CausalBias(1, 2, 2)
    with pytest.raises(ValueError, match="is_causal=True"):
        scaled_dot_product_attention(*inputs(), bias.causal_upper_left(4, 6), is_causal=True)
