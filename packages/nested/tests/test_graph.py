"""Gradients through nested tensors."""

from __future__ import annotations

from ragged import equal_pieces, pieces_of

import taeda
from taeda import nested


def test_leaves_and_modules():
    x = nested.nested_tensor(pieces_of(6), layout=taeda.jagged, requires_grad=True)
    layer = taeda.nn.Sequential(
        taeda.nn.Linear(6, 8), taeda.nn.LayerNorm(8), taeda.nn.ReLU(), taeda.nn.Linear(8, 1)
    ).double()
    (layer(x) ** 2).sum().backward()
    equal_pieces(
        x.grad, [taeda.func.grad(lambda p: (layer(p) ** 2).sum())(p) for p in pieces_of(6)]
    )
    embedded = taeda.nn.Embedding(5, 3)(
        nested.nested_tensor([[1, 2], [4]], layout=taeda.jagged, dtype=taeda.int64)
    )
    assert [tuple(piece.shape) for piece in embedded.unbind()] == [(2, 3), (1, 3)]


def test_gradient_of_a_users_own():
    a, b = taeda.arange(3.0, requires_grad=True), taeda.arange(5.0, requires_grad=True)
    x = nested.as_nested_tensor([a, b], layout=taeda.jagged)
    ones = [taeda.ones(3), taeda.zeros(5)]
    x.backward(nested.nested_tensor(ones, layout=taeda.jagged))
    assert a.grad.tolist() == [1.0] * 3 and b.grad.tolist() == [0.0] * 5
