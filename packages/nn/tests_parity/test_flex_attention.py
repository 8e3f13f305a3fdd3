"""Attention with functions of positions against torch's eager form, which has no gradients on the cpu."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import torch.nn.attention.flex_attention

import taeda
import taeda.nn.attention.flex_attention

BIAS = np.random.default_rng(5).normal(size=(4, 6, 7))


def bias(lib):
    table = lib.tensor(BIAS)
    return lambda score, b, h, q, kv: score + table[h, q, kv]


SCORES = {
    "none": lambda lib: None,
    "causal": lambda lib: lambda score, b, h, q, kv: lib.where(q >= kv, score, -float("inf")),
    "slopes": lambda lib: lambda score, b, h, q, kv: score + (kv - q) * 2.0 ** -(h + 1.0),
    "table": bias,
    "capped": lambda lib: lambda score, b, h, q, kv: lib.tanh(score / 2) * 2,
}
MASKS = {
    "none": None,
    "causal": lambda b, h, q, kv: q >= kv,
    "window": lambda b, h, q, kv: (q - kv).abs() <= 1,
    "by head": lambda b, h, q, kv: (h % 2 == 0) | (q == kv),
    "blind rows": lambda b, h, q, kv: (q > 2) & (kv < 4),
}


def run(lib, score, mask, grouped):
    flex = lib.nn.attention.flex_attention
    r = np.random.default_rng(0)
    heads = 2 if grouped else 4
    q, k, v = (
        lib.tensor(r.normal(size=s)) for s in ((2, 4, 6, 3), (2, heads, 7, 3), (2, heads, 7, 5))
    )
    block = (
        None
        if mask is None
        else flex.create_block_mask(mask, 2, 4, 6, 7, device="cpu", BLOCK_SIZE=2)
    )
    return flex.flex_attention(q, k, v, score, block, enable_gqa=grouped, return_lse=True)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
@pytest.mark.parametrize("score", SCORES.values(), ids=SCORES)
def test_values_and_sums(score, mask, grouped):
    theirs, ours = (run(lib, score(lib), mask, grouped) for lib in (torch, taeda))
    for a, b in zip(theirs, ours, strict=True):
        assert np.allclose(a.tolist(), b.tolist(), atol=1e-10)


def lists(mask):
    return [v if v is None or isinstance(v, (int, tuple)) else v.tolist() for v in facts(mask)]


def facts(mask):
    names = (
        "kv_num_blocks kv_indices full_kv_num_blocks full_kv_indices q_num_blocks q_indices "
        "full_q_num_blocks full_q_indices"
    )
    return [*(getattr(mask, n) for n in names.split()), mask.shape, mask.numel(), mask.to_dense()]


@pytest.mark.parametrize("size", [1, 2, (2, 3), 128])
@pytest.mark.parametrize("name", ["causal", "window", "by head"])
def test_block_masks(name, size):
    both = [
        lib.nn.attention.flex_attention.create_block_mask(
            MASKS[name], 2, 4, 6, 7, device="cpu", BLOCK_SIZE=size
        )
        for lib in (torch, taeda)
    ]
    assert lists(both[0]) == lists(both[1])
    assert both[0].sparsity() == pytest.approx(both[1].sparsity())
    assert lists(both[0][0]) == lists(both[1][0])
    assert lists(both[0][0:1, 2]) == lists(both[1][0:1, 2])
