"""Gradients through nested tensors."""

from __future__ import annotations

import pytest
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


#: every way from a nested tensor to strided tensors on its memory
WAYS = {
    "unbind": lambda x: x.unbind()[0],
    "iteration": lambda x: next(iter(x)),
    "index": lambda x: x[1],
    "select": lambda x: x.select(0, 1),
    "values": lambda x: x.values(),
    "a view of one": lambda x: x.unbind()[0].view(-1)[1:],
    "transposed": lambda x: x.transpose(1, 2).unbind()[0],
    "split": lambda x: x.split(1, -1)[0].unbind()[1],
    "narrow": lambda x: x[..., :1].unbind()[0],
}
WRITES = {
    "zero_": lambda x: x.zero_(),
    "mul_": lambda x: x.mul_(3),
    "copy_": lambda x: x.copy_(taeda.zeros(())),
    "item": lambda x: x.__setitem__(..., 0),
}


def _refuses(write):
    try:
        write()
    except RuntimeError as error:
        return "in-place" in str(error) or "inplace" in str(error)
    return False


@pytest.mark.parametrize("layout", [taeda.strided, taeda.jagged], ids=str)
@pytest.mark.parametrize("way", WAYS)
def test_no_write_into_memory_of_the_graph_goes_unseen(way, layout):
    """A gradient that knows of the write, or a refusal that leaves the memory alone."""
    if way == "values" and layout is taeda.strided:
        pytest.skip("the strided layout has no values")
    for name, write in WRITES.items():
        pieces = [taeda.ones(2, 3), taeda.ones(4, 3)]
        x = nested.nested_tensor(pieces, layout=layout, requires_grad=True)
        y = x * 2
        if _refuses(lambda y=y, write=write: write(WAYS[way](y))):
            assert all((piece == 2).all() for piece in y.unbind())
            continue
        y.sum().backward()
        told = sum(float((g * p).sum()) for g, p in zip(x.grad.unbind(), pieces, strict=True))
        assert told == float(y.sum()), name  # the sum is linear in x


@pytest.mark.parametrize("layout", [taeda.strided, taeda.jagged], ids=str)
def test_names_do_not_get_lost_inside(layout):
    x = taeda.ones(2, 3, names=("N", "C"))
    for make in (
        lambda: nested.nested_tensor([x, x], layout=layout),
        lambda: nested.as_nested_tensor([x, x], layout=layout),
    ):
        with pytest.raises(RuntimeError, match="names"):
            make()
    with pytest.raises(RuntimeError, match="names"):
        nested.nested_tensor_from_jagged(x, taeda.tensor([0, 1, 2]))


@pytest.mark.parametrize("call", [taeda.add, taeda.mul, lambda x, y: x.clone().add_(y)])
def test_names_are_refused_beside_nested_tensors(call):
    plain = taeda.ones(2, 3)
    named = plain.refine_names("N", "C")
    for other in (
        nested.nested_tensor([plain]),
        nested.nested_tensor([plain], layout=taeda.jagged),
    ):
        for pair in ((named, other), (other, named)):
            with pytest.raises(RuntimeError, match="names"):
                call(*pair)
