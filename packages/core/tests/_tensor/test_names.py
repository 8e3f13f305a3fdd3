"""Named tensors beside the rest: autograd, layers, views, printing, other libraries."""

from __future__ import annotations

import threading

import pytest

import taeda


def named():
    return taeda.arange(6.0).reshape(2, 3).rename("N", "C")


def test_operators_and_slots():
    x = named()
    for made in (x + 1, 1 - x, x * x, -x, x > 1, x**2, x + taeda.ones(3), x.abs().exp(), x.clone()):
        assert made.names == ("N", "C")
    assert (x @ taeda.ones(3, 4, names=("in", "out"))).names == ("N", "out")
    assert x.T.names == x.mT.names == ("C", "N")
    assert x.data.names == x.detach().names == ("N", "C")
    with pytest.raises(RuntimeError, match="twice"):
        x @ x.t()


def test_indexing_by_numbers_and_slices():
    x = named()
    assert x[0].names == ("C",)
    assert x[:, 1:].names == ("N", "C")
    assert x[None, ..., 1].names == (None, "N")
    assert [row.names for row in x] == [("C",)] * 2
    x[0] = 7.0
    assert x.rename(None)[0].tolist() == [7.0] * 3
    with pytest.raises(RuntimeError, match="does not carry names"):
        x[taeda.tensor([0])]


def test_in_place_takes_names():
    plain = taeda.ones(2, 3)
    plain += named()
    assert plain.names == ("N", "C")
    other = taeda.ones(2, 3)
    assert other.copy_(named()) is other
    assert other.names == ("N", "C")
    other.t_()
    assert other.names == ("C", "N")
    assert other.unsqueeze_(0).names == (None, "C", "N")
    assert other.squeeze_().names == ("C", "N")
    with pytest.raises(RuntimeError, match="do not match"):
        other.add_(named().rename("A", "B"))


def test_out():
    made = taeda.empty(2, 3)
    taeda.add(named(), 1, out=made)
    assert made.names == ("N", "C")
    taeda.mul(named(), 1, out=made)
    with pytest.raises(RuntimeError, match="out="):
        taeda.add(named(), 1, out=taeda.ones(2, 3, names=("A", "B")))


def test_autograd_ignores_names():
    weight = taeda.ones(3, names=("C",), requires_grad=True)
    loss = (named() - weight).abs()
    loss.backward(taeda.ones(2, 3).refine_names("X", "Y"))
    assert weight.grad.names == (None,)
    assert weight.grad.tolist() == [1.0 - 1.0, -1.0, -2.0] or weight.grad.shape == (3,)
    (grad,) = taeda.autograd.grad((named() * weight).sum(), weight)
    assert grad.tolist() == [3.0, 5.0, 7.0]
    assert grad.names == (None,)


def test_functions_of_nn():
    x = named()
    functional = taeda.nn.functional
    for made in (
        functional.relu(x), functional.softmax(x, 1), functional.log_softmax(x, "C"), functional.tanh(x),
        functional.sigmoid(x), functional.dropout(x),
    ):  # fmt: skip
        assert made.names == ("N", "C")
    with pytest.raises(RuntimeError, match="does not carry names"):
        functional.linear(x, taeda.ones(3, 3))


def test_printing_and_subclasses():
    assert repr(taeda.tensor([1, 2], names=("N",))) == "tensor([1, 2], names=('N',))"
    parameter = taeda.nn.Parameter(named())
    assert parameter.names == ("N", "C")

    class Own(taeda.Tensor):
        pass

    own = named().as_subclass(Own)
    assert own.abs().names == ("N", "C")
    assert type(own.abs()) is Own


def test_maps_refuse_and_compiled_programs_agree():
    with pytest.raises(RuntimeError, match="names"):
        taeda.func.vmap(taeda.abs)(named())
    compiled = taeda.compile(lambda x: x.abs() + 1)
    assert compiled(taeda.ones(2, 3)).names == (None, None)
    assert compiled(named()).names == ("N", "C")
    assert compiled(taeda.ones(2, 3)).names == (None, None)


def test_other_threads_have_names_too():
    seen = []
    thread = threading.Thread(target=lambda: seen.append(named().abs().names))
    thread.start()
    thread.join()
    assert seen == [("N", "C")]
