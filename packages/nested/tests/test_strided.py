"""Nested tensors of the strided layout: tensors that may differ in every size."""

from __future__ import annotations

import copy
import io
import pickle

import pytest

import taeda
from taeda import nested

SHAPES = ((2, 3), (4, 1), (1, 3))


def pieces(requires_grad=False):
    taeda.manual_seed(0)
    return [taeda.randn(shape).requires_grad_(requires_grad) for shape in SHAPES]


def test_facts():
    x = nested.nested_tensor(pieces())
    assert (x.layout, x.is_nested, x.dim(), len(x), x.numel()) == (taeda.strided, True, 3, 3, 13)
    assert x.size(0) == 3
    assert nested.nested_tensor(pieces(), layout=taeda.strided).size(-3) == 3
    for call in (lambda: x.size(1), lambda: x.shape, lambda: x.size()):
        with pytest.raises(RuntimeError, match="differ in dimension 1"):
            call()
    with pytest.raises(IndexError):
        x.size(3)
    assert nested.nested_tensor([[1.0, 2.0], [3.0, 4.0]]).shape == (2, 2)
    assert repr(nested.nested_tensor([[1.0], [2.0, 3.0]])) == (
        "nested_tensor([\n  tensor([1.]),\n  tensor([2., 3.])\n])"
    )


def test_tensors_are_copies_and_come_back():
    given = pieces()
    x = nested.nested_tensor(given, requires_grad=True)
    assert x.is_leaf and x.requires_grad
    for made, own in zip(x.unbind(), given, strict=True):
        assert taeda.equal(made, own) and made.data_ptr() != own.data_ptr()
    assert taeda.equal(x[1], given[1])
    assert taeda.equal(x[-1], given[2])
    with pytest.raises(IndexError):
        x[3]


def test_gradients():
    given = pieces(True)
    x = nested.as_nested_tensor(given)
    ((x * 2).sin() + x).softmax(-1).mul(x).sum().backward()
    alone = pieces(True)
    for own, other in zip(given, alone, strict=True):
        (((other * 2).sin() + other).softmax(-1) * other).sum().backward()
        assert taeda.allclose(own.grad, other.grad, atol=1e-6)
    leaf = nested.nested_tensor(pieces(), requires_grad=True)
    (leaf * leaf).sum().backward()
    (leaf * leaf).sum().backward()
    for made, own in zip(leaf.grad.unbind(), pieces(), strict=True):
        assert taeda.allclose(made, 4 * own)


CALLS = {
    "unary": lambda x: x.exp(),
    "two": lambda x: x * (x + 1),
    "dim": lambda x: x.sum(1) if x.dim() == 3 else x.sum(0),
    "keepdim": lambda x: x.mean(-1, keepdim=True),
    "softmax": lambda x: x.softmax(-1),
    "transpose": lambda x: x.transpose(-1, -2),
    "products": lambda x: x @ x.transpose(-1, -2),
    "argmax": lambda x: x.argmax(-1),
    "several": lambda x: x.max(-1).values,
    "cast": lambda x: x.to(taeda.float64),
    "like": lambda x: taeda.ones_like(x),
    "clone": lambda x: x.clone().detach(),
    "dropout": lambda x: taeda.nn.functional.dropout(x, 0.5, False),
    "narrow": lambda x: x.narrow(-1, 0, 1),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_law(name):
    call = CALLS[name]
    made = call(nested.nested_tensor(pieces()))
    for one, own in zip(made.unbind(), pieces(), strict=True):
        assert taeda.allclose(one, call(own), atol=1e-6)


def test_layers_with_parameters():
    taeda.manual_seed(0)
    linear, norm, table = taeda.nn.Linear(4, 2), taeda.nn.LayerNorm(4), taeda.nn.Embedding(7, 4)
    places = [taeda.tensor([1, 2]), taeda.tensor([[6]]).reshape(1), taeda.tensor([0, 3, 5])]

    def run(x):
        return linear(norm(table(x))).relu()

    made = run(nested.nested_tensor(places))
    for one, own in zip(made.unbind(), places, strict=True):
        assert taeda.allclose(one, run(own), atol=1e-6)
    made.sum().backward()
    gradient, table.weight.grad = table.weight.grad, None
    taeda.stack([run(own).sum() for own in places]).sum().backward()
    assert taeda.allclose(gradient, table.weight.grad, atol=1e-5)


def test_attention_of_sequences():
    taeda.manual_seed(0)
    module = taeda.nn.MultiheadAttention(8, 2, batch_first=True).eval()
    given = [taeda.randn(n, 8) for n in (3, 1, 5)]
    x = nested.nested_tensor(given)
    made = module(x, x, x, need_weights=False)[0]
    for one, own in zip(made.unbind(), given, strict=True):
        assert taeda.allclose(one, module(own, own, own, need_weights=False)[0], atol=1e-5)


def test_padding_and_other_layouts():
    x = nested.nested_tensor(pieces())
    padded = x.to_padded_tensor(-1.0)
    assert padded.shape == (3, 4, 3)
    assert padded[1, 0].tolist()[1:] == [-1.0, -1.0]
    assert taeda.equal(padded[0, :2], pieces()[0])
    assert nested.to_padded_tensor(x, 0.0, (4, 5, 6)).shape == (4, 5, 6)
    with pytest.raises(RuntimeError, match="cut off"):
        x.to_padded_tensor(0.0, (3, 3, 3))
    rows = nested.nested_tensor([taeda.ones(2, 3), taeda.ones(4, 3)], layout=taeda.jagged)
    there = nested.as_nested_tensor(rows, layout=taeda.strided)
    assert there.layout is taeda.strided
    assert nested.as_nested_tensor(there, layout=taeda.jagged).layout is taeda.jagged
    assert nested.as_nested_tensor(taeda.ones(2, 3)).size(1) == 3


def test_narrow_copies():
    x = taeda.arange(24.0).reshape(2, 3, 4)
    made = nested.narrow(x, 2, taeda.tensor([0, 1]), taeda.tensor([2, 3]))
    assert [piece.tolist() for piece in made.unbind()] == [
        x[0, :, :2].tolist(),
        x[1, :, 1:].tolist(),
    ]
    assert made.unbind()[0].data_ptr() != x.data_ptr()
    for dim in (0, 3):
        with pytest.raises(RuntimeError, match="dim"):
            nested.narrow(x, dim, 0, 1)


def test_in_place():
    x = nested.nested_tensor(pieces())
    version = x._version
    assert x.mul_(2).add_(x) is x
    assert x._version > version
    for made, own in zip(x.unbind(), pieces(), strict=True):
        assert taeda.allclose(made, 4 * own)
    with pytest.raises(RuntimeError, match="cannot take"):
        x.mul_(nested.nested_tensor(pieces()).to(taeda.complex64))
    with pytest.raises(RuntimeError, match="cannot take"):
        nested.nested_tensor([taeda.ones(1, 2)]).add_(nested.nested_tensor([taeda.ones(3, 2)]))


def test_copies():
    x = nested.nested_tensor(pieces(), requires_grad=True)
    for made in (copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert type(made) is type(x) and made.requires_grad
        assert all(map(taeda.equal, made.unbind(), x.unbind()))


@pytest.mark.parametrize("leaf", [False, True])
def test_a_gradient_is_given_as_a_batch(leaf):
    weights = [2 * taeda.ones_like(x) for x in pieces()]
    given = nested.nested_tensor(weights)
    own = pieces(True)
    root = (
        nested.nested_tensor(pieces(), requires_grad=True) if leaf else nested.as_nested_tensor(own)
    )
    root.backward(given, retain_graph=True)
    found = root.grad.unbind() if leaf else [x.grad for x in own]
    assert all(map(taeda.equal, found, weights))
    if not leaf:
        found = taeda.autograd.grad(root, own, given)
        assert all(map(taeda.equal, found, weights))
    for wrong in (weights[:2], [x[:1] for x in weights], weights[::-1]):
        with pytest.raises(RuntimeError, match="Mismatch in shape"):
            root.backward(nested.nested_tensor(wrong))
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        root.backward(taeda.ones(3, 4, 3))


@pytest.mark.parametrize("form", ["pt", "safetensors"])
@pytest.mark.parametrize("requires_grad", [False, True])
def test_files(form, requires_grad):
    x = nested.nested_tensor(pieces(), requires_grad=requires_grad)
    turned = nested.as_nested_tensor([piece.t() for piece in pieces()])
    file = io.BytesIO()
    taeda.save({"x": x, "again": x, "turned": turned}, file, format=form)
    file.seek(0)
    found = taeda.load(file)
    assert found["again"] is found["x"]
    assert found["x"].requires_grad is requires_grad
    for name, own in (("x", x), ("turned", turned)):
        assert type(found[name]) is type(own)
        assert all(map(taeda.equal, found[name].unbind(), own.unbind()))


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda x: x.sum(0), NotImplementedError),
        (lambda x: x.transpose(0, 1), NotImplementedError),
        (lambda x: x.flatten(), NotImplementedError),
        (lambda x: x + taeda.ones(3, 1, 1), NotImplementedError),
        (lambda x: x @ taeda.ones(3, 3, 2), NotImplementedError),
        (lambda x: taeda.ones(1) * x, NotImplementedError),
        (lambda x: x.reshape(13), NotImplementedError),
        (lambda x: x.requires_grad_().add_(1), RuntimeError),
        (lambda x: taeda.add(x, x, out=x), NotImplementedError),
        (lambda x: x + nested.nested_tensor(pieces()[:2]), RuntimeError),
        (lambda x: x + nested.nested_tensor([taeda.ones(5, 5)] * 3), RuntimeError),
        (
            lambda x: x + nested.nested_tensor([taeda.ones(2, 3)] * 3, layout=taeda.jagged),
            Exception,
        ),
        (lambda x: x.softmax(5), IndexError),
        (lambda x: x.data_ptr(), RuntimeError),
        (lambda x: nested.nested_tensor([]), RuntimeError),
        (lambda x: nested.nested_tensor([taeda.ones(2), taeda.ones(2, 2)]), RuntimeError),
        (lambda x: nested.as_nested_tensor([taeda.ones(2)], layout=taeda.sparse_coo), RuntimeError),
        (lambda x: nested.nested_tensor_from_jagged(x, taeda.tensor([0, 1])), RuntimeError),
        (lambda x: nested.masked_select(x, taeda.ones(1, dtype=taeda.bool)), RuntimeError),
    ],
)
def test_refusals(call, error):
    with pytest.raises(error):
        call(nested.nested_tensor(pieces()))
