"""Choice of backends, and causal masks by their meaning."""

from __future__ import annotations

import pytest

import taeda
from taeda.nn import attention
from taeda.nn.attention import SDPBackend, bias, sdpa_kernel
from taeda.nn.functional import scaled_dot_product_attention


def inputs(queries=4, keys=6):
    taeda.manual_seed(0)
    return taeda.randn(1, 2, queries, 8), taeda.randn(1, 2, keys, 8), taeda.randn(1, 2, keys, 8)


def test_backends_are_allowed_within_a_block():
    before = attention._cur_sdpa_kernel_backends()
    with sdpa_kernel([SDPBackend.MATH, SDPBackend.FLASH_ATTENTION], set_priority=True):
        chosen = attention._cur_sdpa_kernel_backends(with_priority=True)
        assert chosen == [SDPBackend.MATH, SDPBackend.FLASH_ATTENTION]
        with sdpa_kernel(SDPBackend.MATH):
            assert attention._cur_sdpa_kernel_backends() == [SDPBackend.MATH]
            q, k, v = inputs()
            assert scaled_dot_product_attention(q, k, v).shape == q.shape
    assert attention._cur_sdpa_kernel_backends() == before


@pytest.mark.parametrize("wrong", ["math", 0, [0]])
def test_something_else_is_refused(wrong):
    with pytest.raises(TypeError, match="instance of SDPBackend"), sdpa_kernel(wrong):
        pass


@pytest.mark.parametrize(
    ("make", "diagonal"), [(bias.causal_upper_left, 0), (bias.causal_lower_right, 2)]
)
def test_causal_masks(make, diagonal):
    mask = make(4, 6)
    expected = taeda.ones(4, 6, dtype=taeda.bool).tril(diagonal)
    assert taeda.equal(mask.materialize(), expected)
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
