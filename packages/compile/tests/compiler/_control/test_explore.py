from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.compiler._control._explore import Lifted, explored, tensors_of
from taeda.compiler._errors import Refused
from taeda.func import vmap


def test_tensors_from_elsewhere_are_found_wherever_they_lie():
    w, b, layer = taeda.ones(2, 2), taeda.ones(2), nn.Linear(2, 2)
    x = taeda.ones(2)
    found = explored("f", lambda x: taeda.cat([layer(x @ w), b[taeda.tensor([0])]]), (x,))
    assert {id(t) for t in found.free} == {id(w), id(b), id(layer.weight), id(layer.bias)}


def test_what_is_made_inside_is_not_from_elsewhere():
    def f(x):
        y = taeda.zeros(2)
        y[0] = 1
        return vmap(lambda r: r * 2)(x) + y.T + taeda.func.grad(lambda z: (z * z).sum())(x)

    assert explored("f", f, (taeda.ones(2),)).free == []


@pytest.mark.parametrize(
    ("f", "fact"),
    [
        (lambda x: x, "return a clone"),
        (lambda x: x[0], "return a clone"),
        (lambda x: (x + 1,) * 2, "or one twice"),
        (lambda x: x.add_(1), "change a clone"),
        (lambda x: x * x.sum().item(), "a value is read"),
    ],
)
def test_refused(f, fact):
    with pytest.raises(Refused, match=fact):
        explored("f", f, (taeda.ones(2),))


def test_a_map_over_a_tensor_from_elsewhere():
    w = taeda.ones(2)
    with pytest.raises(Refused, match="make it an operand"):
        explored("f", lambda x: x + vmap(taeda.sin)(w), (taeda.ones(2),))


def test_which_gradients_come_and_which_are_sums():
    x, y = (taeda.ones(2, requires_grad=True) for _ in range(2))
    found = explored("f", lambda x, y: (x.sin() * x, y.exp(), x.detach() * 2), (x, y))
    assert found.reached == [{id(x)}, {id(y)}, set()] and found.several == {id(x)}
    with taeda.no_grad():
        assert explored("f", taeda.sin, (x,)).reached == [set()]


class Twice(taeda.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


def test_a_gradient_that_no_graph_shows():
    """The mode sees no call of a Function, so its argument would stay what it is when it is
    exchanged."""
    w = taeda.ones(2, requires_grad=True)
    with pytest.raises(Refused, match="no graph shows"):
        explored("f", lambda x: x + Twice.apply(w), (taeda.ones(2),))


def test_a_lifted_function_reads_what_it_is_given():
    w = taeda.tensor([2.0, 3.0])
    x = taeda.ones(2)
    f = Lifted(lambda x, k: {"a": x * w * k, "b": w.sum()}, (x, 3), [x, w])
    found = f(x + 1, w * 10)
    assert [t.tolist() for t in found] == [[120.0, 180.0], 50.0]
    assert [id(t) for t in tensors_of((x, [x, w]))] == [id(x), id(w)]
