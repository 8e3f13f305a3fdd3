"""Layers whose weights are rounded."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.ao import quantization as q
from taeda.ao.nn import qat

LAYERS = [
    (nn.Linear(4, 3), qat.Linear, (2, 4)),
    (nn.Conv1d(2, 3, 2), qat.Conv1d, (2, 2, 5)),
    (nn.Conv2d(2, 3, 2), qat.Conv2d, (2, 2, 5, 5)),
    (nn.Conv3d(2, 3, 2), qat.Conv3d, (2, 2, 4, 4, 4)),
]


@pytest.mark.parametrize(
    ("layer", "kind", "size"), LAYERS, ids=lambda x: getattr(x, "__name__", "")
)
def test_weights_are_rounded_and_come_back(layer, kind, size):
    layer.qconfig = q.default_qat_qconfig
    made = kind.from_float(layer)
    x = taeda.randn(*size)
    off = float((made(x) - layer(x)).abs().max())
    assert 0 < off < 0.1
    assert taeda.equal(made.to_float()(x), layer(x))
    made(x).sum().backward()
    assert made.weight.grad is not None
    with pytest.raises(AssertionError, match="with a qconfig"):
        kind.from_float(nn.Tanh())
    with pytest.raises(AssertionError, match="wants a qconfig"):
        kind(2, 2, 1)


def test_embeddings():
    for kind, layer in (
        (qat.Embedding, nn.Embedding(5, 4)),
        (qat.EmbeddingBag, nn.EmbeddingBag(5, 4, mode="sum")),
    ):
        layer.qconfig = q.default_embedding_qat_qconfig
        made = kind.from_float(layer)
        ids = taeda.tensor([[1, 2], [3, 4]])
        assert float((made(ids) - layer(ids)).abs().max()) < 0.05
