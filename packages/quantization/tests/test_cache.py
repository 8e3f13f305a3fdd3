"""A cache of keys and values in int8: what attention gives behind it, by tokens and at once; refusals."""

from __future__ import annotations

import pytest

import taeda
from taeda.nn.functional import scaled_dot_product_attention
from taeda.quantization import Int8Cache


def made(tokens, group=1, dtype=taeda.float32):
    """Keys, values and queries of two texts, with two heads of 64 numbers."""
    taeda.manual_seed(tokens)
    shape = (2, 2, tokens, 64)
    k, v = taeda.randn(shape).to(dtype), taeda.randn(shape).to(dtype)
    return k, v, taeda.randn(2, 2 * group, tokens, 64).to(dtype)


def attention(k, v, q):
    return scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)


def near(got, want):
    assert got.dtype == want.dtype
    assert got.shape == want.shape
    assert (got - want).abs().max() < 0.03 * want.abs().max()


@pytest.mark.parametrize("group", [1, 3])
@pytest.mark.parametrize("dtype", [taeda.float32, taeda.bfloat16])
def test_tokens_one_by_one_see_what_they_see_at_once(group, dtype):
    k, v, q = made(45, group, dtype)
    want = attention(k, v, q)
    one_by_one, at_once = Int8Cache(2, 2, 50, 64), Int8Cache(2, 2, 50, 64)
    for i in range(45):
        one_by_one.append(k[:, :, i : i + 1], v[:, :, i : i + 1])
        near(one_by_one.attend(q[:, :, i : i + 1]), want[:, :, i : i + 1])
    at_once.append(k, v)
    near(at_once.attend(q), want)
    for part in ("keys", "key_scales", "values", "value_scales"):
        assert taeda.equal(getattr(one_by_one, part), getattr(at_once, part))


def test_a_prompt_in_pieces():
    k, v, q = made(20)
    want, cache = attention(k, v, q), Int8Cache(2, 2, 20, 64)
    for begin, end in ((0, 7), (7, 19), (19, 20)):
        cache.append(k[:, :, begin:end], v[:, :, begin:end])
        near(cache.attend(q[:, :, begin:end]), want[:, :, begin:end])
    assert cache.length == 20


def test_a_scale_of_the_products():
    k, v, q = made(9)
    cache = Int8Cache(2, 2, 9, 64)
    cache.append(k, v)
    want = scaled_dot_product_attention(q, k, v, is_causal=True, scale=0.5)
    near(cache.attend(q, 0.5), want)
    near(cache.attend(q[:, :, -1:], 0.5), want[:, :, -1:])


def test_zeros_and_large_numbers():
    cache = Int8Cache(1, 1, 4, 32)
    k = taeda.zeros(1, 1, 2, 32)
    cache.append(k, taeda.stack([k[:, :, 0], taeda.full((1, 1, 32), 1e30)], 2))
    got = cache.attend(taeda.ones(1, 1, 1, 32))
    assert (got / 5e29 - 1).abs().max() < 1e-5


def test_it_takes_a_third_of_the_bytes():
    cache = Int8Cache(1, 4, 1024, 64)
    assert cache.nbytes < 0.3 * (2 * 4 * 1024 * 64 * 4)


@pytest.mark.parametrize(
    ("call", "error", "fact"),
    [
        (lambda c: Int8Cache(1, 1, 4, 48), ValueError, "multiple of 32, not 48"),
        (lambda c: Int8Cache(1, 0, 4, 32), ValueError, "heads must be positive, not 0"),
        (lambda c: Int8Cache(1, 1, 4.0, 32), TypeError, "context must be an int, not 4.0"),
        (lambda c: c.append(taeda.ones(1, 2, 1, 64), taeda.ones(1, 2, 1, 64)), ValueError,
         r"\(2, 2, tokens, 64\), not taeda.float32 \(1, 2, 1, 64\)"),
        (lambda c: c.append(taeda.ones(2, 2, 1, 64), taeda.ones(2, 2, 2, 64)), ValueError,
         "1 keys, but 2 values"),
        (lambda c: c.append(*2 * (taeda.ones(2, 2, 6, 64),)), ValueError,
         "0 tokens and 6 more.*context of 5"),
        (lambda c: c.append(taeda.ones(2, 2, 1, 64), taeda.full((2, 2, 1, 64), float("nan"))), ValueError,
         "values hold numbers that are not finite"),
        (lambda c: c.append(taeda.ones(2, 2, 1, 64).int(), taeda.ones(2, 2, 1, 64)), ValueError, "int32"),
        (lambda c: c.append([1], taeda.ones(2, 2, 1, 64)), ValueError, r"not \[1\]"),
        (lambda c: c.attend(taeda.ones(2, 2, 1, 64)), ValueError, "1 queries, but the cache holds 0 tokens"),
        (lambda c: c.attend(taeda.ones(2, 3, 1, 64)), ValueError, "a multiple of 2"),
    ],
)  # fmt: skip
def test_refusals(call, error, fact):
    cache = Int8Cache(2, 2, 5, 64)
    with pytest.raises(error, match=fact):
        call(cache)
    assert cache.length == 0
    assert not cache.keys.any()
