"""Nested tensors: how they are made, what they say, gradients, attention, files, refusals."""

from __future__ import annotations

import copy
import pickle

import pytest

import taeda
from taeda import Tensor, nested

LENGTHS = (3, 1, 0, 5)


def _pieces(*more: int, requires_grad: bool = False) -> list[Tensor]:
    generator = taeda.Generator().manual_seed(0)
    made = [taeda.randn(n, *more, generator=generator, dtype=taeda.float64) for n in LENGTHS]
    return [piece.requires_grad_(requires_grad) for piece in made]


def _nested(pieces: list[Tensor]) -> Tensor:
    return nested.as_nested_tensor(pieces, layout=taeda.jagged)


def _equal(made: Tensor, pieces: list[Tensor]) -> None:
    assert made.is_nested and len(made) == len(pieces)
    for a, b in zip(made.unbind(), pieces, strict=True):
        assert a.shape == b.shape and taeda.allclose(a, b)


def test_facts():
    pieces = _pieces(6)
    x = nested.nested_tensor(pieces, layout=taeda.jagged, dtype=taeda.float32, requires_grad=True)
    assert x.layout is taeda.jagged and x.is_leaf and x.requires_grad and x.dtype is taeda.float32
    assert x.dim() == 3 and x.shape[0] == 4 and x.size(2) == 6 and str(x.shape[1]).startswith("j")
    assert x.offsets().tolist() == [0, 3, 4, 4, 9] and x.lengths() is None
    assert x.values().shape == (9, 6) and x.numel() == 54 and x.is_contiguous()
    assert not pieces[0].is_nested
    assert str(x) == (
        f"NestedTensor(size=(4, {x.shape[1]}, 6), offsets=tensor([0, 3, 4, 4, 9]), requires_grad=True, "
        "contiguous=True)"
    )


def test_raggedness_goes_by_offsets():
    offsets, values = taeda.tensor([0, 2, 5]), taeda.ones(5, 2)
    a, b = (nested.nested_tensor_from_jagged(values * n, offsets) for n in (1, 2))
    assert a.shape == b.shape
    assert taeda.equal((a + b).values(), values * 3)
    other = nested.nested_tensor_from_jagged(values, offsets.clone())
    with pytest.raises(RuntimeError, match=r"cannot call add.Tensor with inputs of shapes \(2, j"):
        a + other


def test_views_of_values_and_of_rows():
    values = taeda.arange(12.0).reshape(6, 2)
    x = nested.nested_tensor_from_jagged(
        values, taeda.tensor([0, 2, 3, 6]), taeda.tensor([1, 1, 2])
    )
    assert not x.is_contiguous() and x.lengths().tolist() == [1, 1, 2]
    _equal(x, [values[0:1], values[2:3], values[3:5]])
    x.unbind()[0].mul_(10)
    assert values[0].tolist() == [0.0, 10.0]
    padded = taeda.arange(12.0).reshape(3, 4)
    y = nested.narrow(padded, 1, taeda.tensor([0, 1, 2]), taeda.tensor([2, 3, 0]), taeda.jagged)
    _equal(y, [padded[0, :2], padded[1, 1:4], padded[2, 2:2]])
    assert not y.is_contiguous() and y.contiguous().is_contiguous()
    _equal(y.contiguous(), list(y.unbind()))
    _equal(y * 2, [piece * 2 for piece in y.unbind()])
    z = nested.masked_select(padded, padded % 3 == 0)
    _equal(z, [row[row % 3 == 0] for row in padded])


def test_padded():
    pieces = _pieces(2, requires_grad=True)
    made = nested.to_padded_tensor(_nested(pieces), 7.0)
    assert made.shape == (4, 5, 2)
    for row, piece in zip(made, pieces, strict=True):
        assert taeda.equal(row[: len(piece)], piece) and bool((row[len(piece) :] == 7).all())
    made.sum().backward()
    assert all(bool((piece.grad == 1).all()) for piece in pieces)
    larger = nested.to_padded_tensor(_nested(pieces), 0, (5, 6, 3))
    assert larger.shape == (5, 6, 3) and not larger[4].any()


CALLS = {
    "pointwise": lambda x: (x * 2 + 1).sin() / (x.abs() + 1),
    "linear": lambda x: taeda.nn.functional.linear(x, _weight(5, 6), _weight(5)),
    "matmul": lambda x: x @ _weight(6, 2),
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
    "permute": lambda x: x.unsqueeze(1).permute(0, 3, 2, 1),
    "squeeze": lambda x: x.unsqueeze(1).squeeze((1,)),
    "swapaxes": lambda x: x.swapaxes(1, 2),
    "addcmul": lambda x: taeda.addcmul(x, x, x, value=2),
    "addcdiv": lambda x: taeda.addcdiv(x, x, x.exp(), value=2),
    "gelu": taeda.nn.functional.gelu,
}


#: what each tensor of the batch gives, where its call is another than that of the batch
EACH = {
    "view": lambda p: p.view(-1, 3, 2) * 2 if p.numel() else p.reshape(0, 3, 2),
    "reshape": lambda p: p.reshape(len(p), 2, 3),
    "permute": lambda p: p.unsqueeze(0).permute(2, 1, 0),
    "squeeze": lambda p: p,
    "swapaxes": lambda p: p.T,
}


def _weight(*size: int) -> Tensor:
    return taeda.linspace(-1, 1, taeda.Size(size).numel(), dtype=taeda.float64).reshape(size)


@pytest.mark.parametrize("name", CALLS)
def test_results_and_gradients_are_those_of_each_tensor(name):
    function = CALLS[name]
    one, two = (_pieces(6, requires_grad=True) for _ in range(2))
    made = function(_nested(one))
    expected = [EACH.get(name, function)(piece) for piece in two]
    _equal(made, expected)
    made.sin().sum().backward()
    taeda.stack([piece.sin().sum() for piece in expected]).sum().backward()
    for a, b in zip(one, two, strict=True):
        assert taeda.allclose(a.grad, b.grad)


def test_reductions_of_the_ragged_dimension():
    pieces = _pieces(6)
    x = _nested(pieces)
    assert taeda.allclose(x.sum(1), taeda.stack([piece.sum(0) for piece in pieces]))
    assert taeda.allclose(x.sum(), taeda.cat(pieces).sum())
    assert taeda.allclose(x.mean((1, 2))[0], pieces[0].mean())


def test_strided_tensors_beside():
    pieces = _pieces(6)
    x, rows = _nested(pieces), taeda.arange(24.0, dtype=taeda.float64).reshape(4, 1, 6)
    _equal(x + rows, [piece + row for piece, row in zip(pieces, rows, strict=True)])
    _equal(x + rows[0, 0], [piece + rows[0, 0] for piece in pieces])
    with pytest.raises(RuntimeError, match="has the size 1 in place of j"):
        x + taeda.ones(9, 6)


def test_products_of_batches():
    pieces, y = _pieces(6), _weight(4, 6, 2)
    x = _nested(pieces)
    _equal(x @ y, [a @ b for a, b in zip(pieces, y, strict=True)])
    made = x.transpose(1, 2) @ x
    assert taeda.allclose(made, taeda.stack([piece.T @ piece for piece in pieces]))


@pytest.mark.parametrize("causal", [False, True])
def test_attention_keeps_sequences_apart(causal):
    attention = taeda.nn.functional.scaled_dot_product_attention
    one, two = (_pieces(2, 4, requires_grad=True) for _ in range(2))
    x = _nested(one).transpose(1, 2)
    made = attention(x, x * 2, x + 1, is_causal=causal).transpose(1, 2)
    expected = []
    for piece in two:
        q = piece.transpose(0, 1)
        expected.append(attention(q, q * 2, q + 1, is_causal=causal).transpose(0, 1))
    _equal(made, expected)
    made.sin().sum().backward()
    taeda.stack([piece.sin().sum() for piece in expected]).sum().backward()
    for a, b in zip(one, two, strict=True):
        assert taeda.allclose(a.grad, b.grad)


def test_leaves_and_modules():
    x = nested.nested_tensor(_pieces(6), layout=taeda.jagged, requires_grad=True)
    layer = taeda.nn.Sequential(
        taeda.nn.Linear(6, 8), taeda.nn.LayerNorm(8), taeda.nn.ReLU(), taeda.nn.Linear(8, 1)
    ).double()
    (layer(x) ** 2).sum().backward()
    _equal(x.grad, [taeda.func.grad(lambda p: (layer(p) ** 2).sum())(p) for p in _pieces(6)])
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


def test_copies_and_files(tmp_path):
    x = nested.nested_tensor(_pieces(6), layout=taeda.jagged, requires_grad=True)
    taeda.save({"x": x}, tmp_path / "f.pt")
    taeda.save({"x": x}, tmp_path / "g", format="safetensors")
    for made in (
        copy.deepcopy(x), pickle.loads(pickle.dumps(x)), taeda.load(tmp_path / "f.pt")["x"],
        taeda.load(tmp_path / "g")["x"],
    ):  # fmt: skip
        _equal(made, _pieces(6))
        assert made.requires_grad and made.is_leaf


@pytest.mark.parametrize(
    ("call", "error", "fact"),
    [
        (lambda x: nested.nested_tensor([taeda.ones(2)]), NotImplementedError, "layout=taeda.jag"),
        (lambda x: _nested([taeda.ones(2), taeda.ones(2, 2)]), RuntimeError, "same dim"),
        (lambda x: _nested([taeda.ones(2, 3), taeda.ones(3, 2)]), RuntimeError, "one ragged dim"),
        (lambda x: _nested([]), RuntimeError, "empty"),
        (lambda x: _nested([taeda.tensor(1.0)]), RuntimeError, "zero-dim"),
        (lambda x: nested.to_padded_tensor(x, 0, (4, 2, 6)), RuntimeError, "less than"),
        (lambda x: _jagged([0, 2, 7]), ValueError, "from 2 to 7 in 5 values"),
        (lambda x: _jagged([0, 3, 1]), ValueError, "from 3 to 1"),
        (lambda x: _jagged([-1, 3]), ValueError, "from -1 to 3"),
        (lambda x: _jagged([0.0, 3.0]), RuntimeError, "must be ints"),
        (lambda x: x.sum(0), NotImplementedError, "sum: dimension 0 .* its batch"),
        (lambda x: x.svd(), NotImplementedError, "svd: .* taeda.jagged.* unbind"),
        (lambda x: x.add_(1), NotImplementedError, "add_: .* Use add"),
        (lambda x: x.transpose(0, 1), NotImplementedError, "transpose"),
        (lambda x: x.softmax(3), IndexError, "out of range"),
        (lambda x: x.numpy(), TypeError, "taeda.jagged"),
        (lambda x: x.to_sparse(), NotImplementedError, "NestedTensor"),
        (lambda x: taeda.empty(2, layout=taeda.jagged), NotImplementedError, "empty"),
    ],
)
def test_refused(call, error, fact):
    with pytest.raises(error, match=fact):
        call(_nested(_pieces(6)))


def _jagged(offsets: list[float]) -> Tensor:
    return nested.nested_tensor_from_jagged(taeda.ones(5, 2), taeda.tensor(offsets))


def test_offsets_written_later_move_nothing():
    offsets = taeda.tensor([0, 2, 5])
    x = nested.nested_tensor_from_jagged(taeda.ones(5, 2), offsets)
    offsets[2] = 1 << 40
    assert [len(piece) for piece in x.unbind()] == [2, 3]
