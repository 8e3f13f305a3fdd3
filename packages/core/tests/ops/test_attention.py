"""scaled_dot_product_attention against its formula in float64: masks, heads, dtypes, layouts,
threads, refusals.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from arrays import normal, values

import taeda
from taeda._C import _nn

TOLERANCE = {"float16": 5e-3, "bfloat16": 4e-2, "float32": 2e-5, "float64": 1e-12}
attend = _nn.scaled_dot_product_attention


def close(got, want, dtype="float64"):
    assert tuple(got.shape) == want.shape
    np.testing.assert_allclose(values(got), want, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


def formula(q, k, v, mask=None, causal=False, scale=None):
    scores = np.matmul(q, np.swapaxes(k, -1, -2)) * (
        1 / math.sqrt(q.shape[-1]) if scale is None else scale
    )
    if causal:
        mask = np.tril(np.ones(scores.shape[-2:], dtype=bool))
    if mask is not None:
        scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask
    top = scores.max(-1, keepdims=True)
    weights = np.exp(scores - np.where(np.isinf(top), 0, top))
    total = weights.sum(-1, keepdims=True)
    return np.matmul(np.divide(weights, total, out=np.zeros_like(weights), where=total > 0), v)


SHAPES = [  # query, key, width of value
    ((2, 3, 5, 8), 7, 8), ((1, 1, 1, 4), 1, 4), ((2, 4, 70, 16), 130, 16), ((1, 2, 200, 64), 200, 64),
    ((3, 9, 6), 11, 6), ((2, 2, 5, 8), 7, 3), ((4, 6), 5, 6), ((1, 2, 3, 4, 5), 6, 5),
]  # fmt: skip


def heads(shape, keys, width, dtype):
    q = normal(shape, dtype)
    k = normal((*shape[:-2], keys, shape[-1]), dtype, 1)
    return q, k, normal((*shape[:-2], keys, width), dtype, 2)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize(("shape", "keys", "width"), SHAPES, ids=str)
def test_plain(shape, keys, width, dtype):
    q, k, v = heads(shape, keys, width, dtype)
    got = attend(q, k, v)
    assert got.dtype is q.dtype
    close(got, formula(values(q), values(k), values(v)), dtype)
    close(attend(q, k, v, scale=0.3), formula(values(q), values(k), values(v), scale=0.3), dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("keys", [5, 9, 3, 150])
def test_causal_lets_a_query_see_as_many_keys_as_its_place(keys, dtype):
    q, k, v = heads((2, 3, 5, 8), keys, 8, dtype)
    close(
        attend(q, k, v, is_causal=True),
        formula(values(q), values(k), values(v), causal=True),
        dtype,
    )


MASKS = {
    "full": (2, 3, 5, 7),
    "for all heads": (2, 1, 5, 7),
    "for all": (5, 7),
    "of keys": (2, 1, 1, 7),
}


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("shape", MASKS.values(), ids=MASKS)
def test_masks(shape, dtype):
    q, k, v = heads((2, 3, 5, 8), 7, 8, dtype)
    allowed = normal(shape, seed=3) > -0.5
    want = formula(values(q), values(k), values(v), values(allowed).astype(bool))
    close(attend(q, k, v, attn_mask=allowed), want, dtype)
    added = normal(shape, dtype, 3)
    close(
        attend(q, k, v, attn_mask=added),
        formula(values(q), values(k), values(v), values(added)),
        dtype,
    )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_query_that_may_attend_to_nothing_gets_zeros(dtype):
    q, k, v = heads((1, 2, 4, 8), 6, 8, dtype)
    mask = taeda.ones(4, 6, dtype=taeda.bool)
    mask[2] = False
    got = attend(q.requires_grad_(), k, v, attn_mask=mask)
    assert not got[:, :, 2].any()
    got.sum().backward()
    assert not q.grad[:, :, 2].any()
    assert q.grad.isfinite().all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_grouped_heads(dtype):
    q = normal((2, 6, 5, 8), dtype)
    k, v = normal((2, 2, 7, 8), dtype, 1), normal((2, 2, 7, 8), dtype, 2)
    want = formula(values(q), values(k).repeat(3, 1), values(v).repeat(3, 1))
    close(attend(q, k, v, enable_gqa=True), want, dtype)


LAYOUTS = {
    "heads after places": lambda t: t.transpose(1, 2).contiguous().transpose(1, 2),
    "strided": lambda t: t.repeat_interleave(2, -1)[..., ::2],
    "transposed": lambda t: t.mT.contiguous().mT,
    "expanded": lambda t: t[:1].expand(t.shape),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout, dtype):
    q, k, v = (LAYOUTS[layout](t) for t in heads((2, 3, 9, 8), 12, 8, dtype))
    close(attend(q, k, v), formula(values(q), values(k), values(v)), dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_large_scores_do_not_overflow(dtype):
    q, k, v = heads((1, 1, 3, 4), 5, 4, dtype)
    close(attend(q * 300, k * 300, v), formula(values(q * 300), values(k * 300), values(v)), dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_nan_stays_with_its_query(dtype):
    q, k, v = heads((1, 1, 3, 4), 5, 4, dtype)
    q[0, 0, 1, 0] = float("nan")
    got = attend(q, k, v)[0, 0]
    assert got[1].isnan().all()
    assert got[[0, 2]].isfinite().all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("queries", "keys"), [(0, 4), (3, 0)])
def test_no_queries_or_no_keys(queries, keys, dtype):
    q, k, v = heads((2, 3, queries, 8), keys, 8, dtype)
    got = attend(q, k, v)
    assert got.shape == (2, 3, queries, 8)
    assert not got.any()


def test_without_keys_the_gradients_are_zeros():
    # what an earlier call left in the memory of scores was taken for sums
    leaves = [taeda.randn(2, 2, 70, 8).requires_grad_() for _ in "qkv"]
    attend(*leaves).sum().backward()
    q = taeda.randn(2, 2, 70, 8).requires_grad_()
    keys = [taeda.zeros(2, 2, 0, 8).requires_grad_() for _ in "kv"]
    attend(q, *keys).sum().backward()
    assert not q.grad.count_nonzero() and all(k.grad.shape == k.shape for k in keys)


def test_dropout_is_scaled_and_drawn_from_the_generator():
    q, k = taeda.zeros(1, 1, 200, 4), taeda.zeros(1, 1, 50, 4)
    v = taeda.ones(1, 1, 50, 4)
    taeda.manual_seed(0)
    first = attend(q, k, v, dropout_p=0.5)
    assert abs(first.mean().item() - 1) < 0.05
    assert first.std() > 0
    taeda.manual_seed(0)
    assert taeda.equal(first, attend(q, k, v, dropout_p=0.5))


def test_threads_do_not_change_a_bit():
    tensors = heads((2, 4, 150, 32), 150, 32, "float32")
    before, made = taeda.get_num_threads(), []
    for threads in (1, 2, 3):
        taeda.set_num_threads(threads)
        leaves = [t.clone().requires_grad_() for t in tensors]
        y = attend(*leaves, is_causal=True)
        y.backward(y.detach().cos())
        made.append([y, *(t.grad for t in leaves)])
    taeda.set_num_threads(before)
    for other in made[1:]:
        assert all(taeda.equal(a, b) for a, b in zip(made[0], other, strict=True))


def ones(*shape):
    return taeda.ones(shape)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: attend(ones(4), ones(4), ones(4)), r"at least 2 dimensions.*\[4\]"),
        (lambda: attend(ones(2, 4), ones(2, 4).double(), ones(2, 4)), "same dtype"),
        (lambda: attend(ones(2, 4), ones(3, 5), ones(3, 4)), "2x4 and 5x3|4.*5"),
        (lambda: attend(ones(2, 4), ones(3, 4), ones(2, 4)), "3.*2"),
        (lambda: attend(ones(1, 2, 4), ones(1, 3, 4), ones(1, 3, 4), ones(5, 5)), "5"),
        (lambda: attend(ones(2, 4), ones(2, 4), ones(2, 4), ones(2, 2).long()), "attn_mask dtype"),
        (lambda: attend(ones(2, 4), ones(2, 4), ones(2, 4), ones(2, 2), is_causal=True),
            "should not be set when is_causal"),
        (lambda: attend(ones(1, 5, 2, 4), ones(1, 2, 2, 4), ones(1, 2, 2, 4), enable_gqa=True), "multiple"),
        (lambda: attend(ones(1, 2, 2, 4), ones(1, 2, 2, 4), ones(1, 2, 2, 4), dropout_p=1.5),
            "probability|1.5"),
    ],
)  # fmt: skip
def test_refusals(call, message):
    with pytest.raises((RuntimeError, ValueError), match=message):
        call()


@pytest.mark.parametrize(("queries", "keys"), [(1, 1), (4, 4), (17, 17), (70, 200)])
@pytest.mark.parametrize("causal", [False, True])
def test_the_gradient_of_values_keeps_its_digits_for_large_scores(queries, keys, causal):
    q, k, v = (
        taeda.from_numpy(np.random.default_rng(seed).standard_normal((2, 2, n, 130)) * size).float()
        for seed, (n, size) in enumerate([(queries, 10), (keys, 1), (keys, 1)])
    )
    grad = taeda.ones(2, 2, queries, 130)
    output, total = _nn._fused_attention(q, k, v, None, causal, 1.7)
    dv = _nn._fused_attention_backward(grad, q, k, v, None, output, total, causal, 1.7)[2]
    # every query gives away weights that sum to 1
    np.testing.assert_allclose(dv.double().sum(2).numpy(), queries, rtol=3e-6)


@pytest.mark.parametrize("queries", [1, 3, 6, 7, 70])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("size", [1, 10])
@pytest.mark.parametrize("share", [0.5, 0.02])
def test_gradients_of_some_of_the_keys_follow_the_sum_of_all(queries, masked, size, share):
    """Processes in a ring have some keys each. Given the whole output and sum, each part's gradients
    are those of the whole.
    """
    keys, width = 100, 24
    at = int(keys * share)
    q, k, v, grad = (
        taeda.from_numpy(np.random.default_rng(seed).standard_normal((2, 2, n, width)) * by).float()
        for seed, (n, by) in enumerate([(queries, size), (keys, 1), (keys, 1), (queries, 1)])
    )
    mask = None
    if masked:
        mask = taeda.from_numpy(np.random.default_rng(9).standard_normal((queries, keys))).float()
        mask[0, :at] = -float("inf")  # the first query sees the second part alone
    output, total = _nn._fused_attention(q, k, v, mask, False, 0.7)
    whole = _nn._fused_attention_backward(grad, q, k, v, mask, output, total, False, 0.7)
    parts = [
        _nn._fused_attention_backward(
            grad,
            q,
            k[:, :, part].contiguous(),
            v[:, :, part].contiguous(),
            None if mask is None else mask[:, part].contiguous(),
            output,
            total,
            False,
            0.7,
        )
        for part in (slice(0, at), slice(at, keys))
    ]
    together = (
        parts[0][0] + parts[1][0],
        taeda.cat([parts[0][1], parts[1][1]], 2),
        taeda.cat([parts[0][2], parts[1][2]], 2),
    )
    for want, got in zip(whole, together, strict=True):
        np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=2e-4, atol=3e-5 * size)


def test_a_mask_whose_keys_lie_far_apart():
    keys, apart = 9, 2**28  # 2**31 elements from the first key to the last
    try:
        memory = taeda.empty((keys - 1) * apart + 8)
    except taeda.OutOfMemoryError:
        pytest.skip("no 8 GiB of address space, which nothing but a few pages of is touched")
    mask = memory.as_strided((1, 1, 8, keys), (0, 0, 1, apart))
    mask.copy_(normal((8, keys), "float32"))
    q, k, v = (normal((1, 1, n, 16), "float32", seed=n) for n in (8, keys, keys))
    got = attend(q, k, v, mask)
    wanted = formula(*map(values, (q, k, v)), values(mask.contiguous()))
    close(got, wanted.astype("float32"), "float32")


@pytest.mark.parametrize("length", [3, 40])  # few queries, and blocks of them
@pytest.mark.parametrize("form", ["bool", "float", "steps"])
@pytest.mark.parametrize("odd", [math.nan, math.inf])
def test_a_hidden_key_counts_for_nothing_whatever_it_is(length, form, odd):
    q, k, v = (normal((1, 1, length, 8), "float32", seed) for seed in range(3))
    seen = taeda.ones(length, length, dtype=taeda.bool)
    seen[: length // 2, 1] = False  # half of the queries
    mask = seen if form == "bool" else taeda.zeros(length, length).masked_fill(~seen, -math.inf)
    if form == "steps":  # a mask with a gradient has no kernel of its own
        mask.requires_grad_()
    plain = taeda.nn.functional.scaled_dot_product_attention(q, k, v, mask)
    k[..., 1, :] = odd
    made = taeda.nn.functional.scaled_dot_product_attention(q, k, v, mask)
    assert made[..., : length // 2, :].tolist() == plain[..., : length // 2, :].tolist()
    assert made[..., length // 2 :, :].isnan().any()


def test_scores_beyond_float16_are_no_numbers_of_the_result():
    q, k, v = (normal((2, 6, 8), "float16", seed) for seed in range(3))
    v = v[..., :4]
    mask = taeda.zeros(2, 6, 6, requires_grad=True, dtype=taeda.float16)
    made = taeda.nn.functional.scaled_dot_product_attention(q, k, v, mask, scale=70000.0)
    wide = taeda.nn.functional.scaled_dot_product_attention(
        q.double(), k.double(), v.double(), mask.double(), scale=70000.0
    )
    np.testing.assert_allclose(values(made), values(wide), atol=1e-3)
