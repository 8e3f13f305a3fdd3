"""Embeddings with weights of 8 and 4 bits."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.ao import quantization as q
from taeda.ao.nn import quantized


@pytest.mark.parametrize(
    "how", [q.float_qparams_weight_only_qconfig, q.float_qparams_weight_only_qconfig_4bit]
)
@pytest.mark.parametrize("kind", ["Embedding", "EmbeddingBag"])
def test_of_a_float_layer(kind, how):
    layer = nn.Embedding(10, 6) if kind == "Embedding" else nn.EmbeddingBag(10, 6, mode="sum")
    layer.qconfig = how
    made = getattr(quantized, kind).from_float(layer)
    ids = taeda.tensor([[1, 2, 3], [4, 5, 5]])
    bits = 8 if how is q.float_qparams_weight_only_qconfig else 4
    assert float((made(ids) - layer(ids)).abs().max()) < 6 / 2**bits * 3
    again = getattr(quantized, kind)(10, 6, dtype=made.weight().dtype)
    again.load_state_dict(made.state_dict())
    assert taeda.equal(again(ids), made(ids))
    assert "Quantized" in repr(made)


def test_bags():
    layer = nn.EmbeddingBag(10, 6, mode="sum")
    layer.qconfig = q.float_qparams_weight_only_qconfig
    made = quantized.EmbeddingBag.from_float(layer)
    ids, starts, weights = taeda.tensor([1, 2, 3, 3]), taeda.tensor([0, 0, 3]), taeda.rand(4)
    assert taeda.allclose(made(ids, starts, weights), layer(ids, starts, weights), atol=0.05)


def test_what_is_refused():
    made, bag = quantized.Embedding(10, 6), quantized.EmbeddingBag(10, 6)
    for bad in (taeda.tensor([10]), taeda.tensor([-1])):
        with pytest.raises(RuntimeError, match="out of range"):
            made(bad)
    with pytest.raises(RuntimeError, match="int64 or int32"):
        made(taeda.tensor([1.0]))
    with pytest.raises(ValueError, match="want offsets"):
        bag(taeda.tensor([1]))
    with pytest.raises(RuntimeError, match="offsets begin with 0"):
        bag(taeda.tensor([1, 2]), taeda.tensor([0, 5]))
    with pytest.raises(NotImplementedError, match="mode 'sum'"):
        quantized.EmbeddingBag(10, 6, mode="mean")
    with pytest.raises(NotImplementedError, match="quint8 or quint4x2"):
        quantized.Embedding(10, 6, dtype=taeda.qint8)
    with pytest.raises(RuntimeError, match="per_channel_affine_float_qparams"):
        made.set_weight(taeda.quantize_per_tensor(taeda.ones(10, 6), 0.1, 0, taeda.quint8))
