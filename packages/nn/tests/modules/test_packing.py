"""Encoders compute sequences without their padding where nothing asks for it."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.nn.modules import _packing

pytest.importorskip("taeda.nested", reason="packing stands on taeda-nested")


def encoder(**options):
    taeda.manual_seed(0)
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    return nn.TransformerEncoder(layer, 2, nn.LayerNorm(8), **options).eval()


def batch():
    taeda.manual_seed(1)
    padding = taeda.arange(6) >= taeda.tensor([[6], [2], [4]])
    return taeda.randn(3, 6, 8), padding


@pytest.fixture
def runs(monkeypatch):
    """How often a batch was packed."""
    seen = []
    real = _packing.packed

    def watched(*args):
        seen.append(args)
        return real(*args)

    monkeypatch.setattr("taeda.nn.modules.transformer.packed", watched)
    return seen


def same_where_kept(a, b, padding):
    return taeda.allclose(a[~padding], b[~padding], atol=1e-5)


def test_packed_batches_are_those_of_the_padded_way(runs):
    x, padding = batch()
    with taeda.no_grad():
        made = encoder()(x, src_key_padding_mask=padding)
        assert len(runs) == 1
        wanted = encoder(enable_nested_tensor=False)(x, src_key_padding_mask=padding)
    assert len(runs) == 1
    assert same_where_kept(made, wanted, padding)
    assert not made[padding].any()
    assert wanted[padding].any()


def test_the_check_of_the_mask(runs):
    x, padding = batch()
    padding = padding.flip(1)  # before each sequence
    with taeda.no_grad():
        padded = encoder()(x, src_key_padding_mask=padding)
        assert not runs
        made = encoder(mask_check=False)(x, src_key_padding_mask=padding)
    assert len(runs) == 1
    assert same_where_kept(made, padded, padding)


def test_sequences_without_places(runs):
    x, padding = batch()
    padding[1] = True
    with taeda.no_grad():
        made = encoder()(x, src_key_padding_mask=padding)
    assert len(runs) == 1
    assert not made[1].any()


@pytest.mark.parametrize(
    "case", ["training", "gradients", "mask", "float mask", "causal", "batch second"]
)
def test_what_is_not_packed(case, runs):
    x, padding = batch()
    model = encoder()
    more = {}
    if case == "training":
        model.train()
    if case == "mask":
        more["mask"] = taeda.zeros(6, 6, dtype=taeda.bool)
    if case == "causal":
        more["is_causal"] = True
        more["mask"] = taeda.ones(6, 6, dtype=taeda.bool).triu(1)
    if case == "float mask":
        padding = taeda.zeros(3, 6).masked_fill(padding, float("-inf"))
    if case == "batch second":
        layer = nn.TransformerEncoderLayer(8, 2, 16)
        model = nn.TransformerEncoder(layer, 1).eval()
        x = x.transpose(0, 1)
    with taeda.set_grad_enabled(case == "gradients"):
        model(x, src_key_padding_mask=padding, **more)
    assert not runs
