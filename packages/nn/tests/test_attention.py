"""Choice of backends, and causal masks by their meaning."""

from __future__ import annotations

import pytest

import taeda
from taeda.nn import attention
from taeda.nn.attention import SDPBackend, sdpa_kernel
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
