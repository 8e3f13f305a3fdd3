"""Results and gradients of nested tensors are those of each tensor."""

from __future__ import annotations

import pytest
from ragged import equal_pieces, nested_of, pieces_of, weight_of

import taeda

CALLS = {
    "pointwise": lambda x: (x * 2 + 1).sin() / (x.abs() + 1),
    "linear": lambda x: taeda.nn.functional.linear(x, weight_of(5, 6), weight_of(5)),
    "matmul": lambda x: x @ weight_of(6, 2),
    "layer_norm": lambda x: taeda.nn.functional.layer_norm(x, (6,)),
    "softmax": lambda x: x.softmax(-1),
    "cumsum along j1": lambda x: x.cumsum(-2),
    "unflatten": lambda x: x.unflatten(-1, (2, 3)),
    "transpose": lambda x: x.unflatten(-1, (2, 3)).transpose(-3, -2),
    "unsqueeze": lambda x: x.unsqueeze(-1),
    "cat": lambda x: taeda.cat([x, x * 2], -1),
    "stack": lambda x: taeda.stack([x, x], -2),
    "slice": lambda x: x[..., 1:4],
    "sum": lambda x: x.sum(-1),
    "chunk": lambda x: x.chunk(3, -1)[1],
    "dropout": lambda x: taeda.nn.functional.dropout(x, 0.0),
    "view": lambda x: x.view(4, -1, 3, 2) * 2,
    "reshape": lambda x: x.reshape(4, x.shape[1], 2, 3),
    "expand": lambda x: x.unsqueeze(-1).expand(-1, -1, -1, 3),
    "expand to sizes": lambda x: x.unsqueeze(2).expand(len(x), x.shape[1], 2, 6),
    "expand_as": lambda x: x.sum(-1, keepdim=True).expand_as(x) * 2,
    "permute": lambda x: x.unsqueeze(1).permute(0, 3, 2, 1),
    "squeeze": lambda x: x.unsqueeze(1).squeeze((1,)),
    "swapaxes": lambda x: x.swapaxes(1, 2),
    "addcmul": lambda x: taeda.addcmul(x, x, x, value=2),
    "addcdiv": lambda x: taeda.addcdiv(x, x, x.exp(), value=2),
    "gelu": lambda x: taeda.nn.functional.gelu(x),
}


#: what each tensor of the batch gives, where its call is another than that of the batch
EACH = {
    "view": lambda p: p.view(-1, 3, 2) * 2 if p.numel() else p.reshape(0, 3, 2),
    "reshape": lambda p: p.reshape(len(p), 2, 3),
    "expand": lambda p: p.unsqueeze(-1).expand(-1, -1, 3),
    "expand to sizes": lambda p: p.unsqueeze(1).expand(-1, 2, 6),
    "expand_as": lambda p: p.sum(-1, keepdim=True).expand_as(p) * 2,
    "permute": lambda p: p.unsqueeze(0).permute(2, 1, 0),
    "squeeze": lambda p: p,
    "swapaxes": lambda p: p.T,
}


@pytest.mark.parametrize("name", CALLS)
def test_results_and_gradients_are_those_of_each_tensor(name):
    function = CALLS[name]
    one, two = (pieces_of(6, requires_grad=True) for _ in range(2))
    made = function(nested_of(one))
    expected = [EACH.get(name, function)(piece) for piece in two]
    equal_pieces(made, expected)
    made.sin().sum().backward()
    taeda.stack([piece.sin().sum() for piece in expected]).sum().backward()
    for a, b in zip(one, two, strict=True):
        assert taeda.allclose(a.grad, b.grad)


def test_the_shape_of_another():
    pieces = pieces_of(6)
    x, y = nested_of(pieces), nested_of(pieces).unflatten(-1, (2, 3))
    other = y.flatten(2)
    assert other.view_as(y).shape == y.shape and other.reshape_as(y).shape == y.shape
    equal_pieces(other.view_as(y), [piece.reshape(-1, 2, 3) for piece in pieces])
    with pytest.raises(NotImplementedError, match="view_as"):
        x.view_as(y)  # of another raggedness


def test_neither_the_batch_nor_the_ragged_size_is_expanded():
    x = nested_of(pieces_of(6))
    for size in ((1, -1, 6), (len(x), 7, 6), (2, *x.shape), (-1, -1), (3, -1, 6)):
        with pytest.raises(NotImplementedError, match="expand"):
            x.expand(size)
    with pytest.raises(RuntimeError, match="expand"):
        x.expand(-1, -1, 7)
    with pytest.raises(NotImplementedError, match="expand_as"):
        x.expand_as(taeda.ones(4, 2, 6))
