"""What `backward` and `grad` take, give and refuse."""

from __future__ import annotations

import pytest

import taeda
from taeda.autograd import graph


def ones(*shape: int) -> taeda.Tensor:
    return taeda.ones(*shape, requires_grad=True)


def test_an_edge_may_be_a_root():
    x = ones(2)
    y = x * 2
    edge = graph.get_gradient_edge(y)
    taeda.autograd.backward(edge, taeda.tensor([3.0, 4.0]), retain_graph=True)
    assert x.grad.tolist() == [6.0, 8.0]
    total = graph.get_gradient_edge(y.sum())
    assert taeda.autograd.grad([total], [x])[0].tolist() == [2.0, 2.0]
    with pytest.raises(RuntimeError, match="only for scalar outputs"):
        taeda.autograd.grad(edge, [x])


def leaf(*values: float) -> taeda.Tensor:
    return taeda.tensor(list(values), requires_grad=True)


def test_create_graph_makes_a_new_gradient_object():
    x = leaf(2.0)
    (x**3).sum().backward(create_graph=True)
    first = x.grad
    (x**3).sum().backward(create_graph=True)
    assert x.grad is not first
    assert x.grad.tolist() == [24.0]


def test_a_freed_graph_says_what_to_do():
    x = leaf(1.0)
    y = (x * x).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="retain_graph=True"):
        y.backward()


def test_retain_graph_allows_a_second_walk():
    x = leaf(1.0)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [4.0]


def test_graph_without_saved_tensors_may_be_walked_twice():
    x = leaf(1.0)
    y = (x + 1).sum()
    y.backward()
    y.backward()
    assert x.grad.tolist() == [2.0]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: leaf(1.0, 2.0).backward(), "only for scalar outputs"),
        (lambda: taeda.ones(1).backward(), "does not require grad"),
        (lambda: (leaf(1.0) * 2).backward(taeda.ones(2)), "Mismatch in shape"),
        (lambda: taeda.autograd.grad(leaf(1.0).sum(), leaf(1.0)), "not have been used"),
        (lambda: taeda.autograd.backward(leaf(1.0).sum(), inputs=[]), "cannot be empty"),
        (lambda: taeda.tensor([1], requires_grad=True), "floating point"),
    ],
    ids=["not scalar", "no grad", "wrong shape", "unused", "no inputs", "integer leaf"],
)
def test_refusals(make, message):
    with pytest.raises(RuntimeError, match=message):
        make()


def test_grad_touches_no_leaf_and_handles_unused():
    x, z = leaf(1.0), leaf(1.0)
    assert taeda.autograd.grad((x * 3).sum(), [x, z], allow_unused=True)[1] is None
    zero = taeda.autograd.grad((x * 3).sum(), [x, z], materialize_grads=True)[1]
    assert zero.tolist() == [0.0]
    assert x.grad is None
    with pytest.raises(ValueError, match="materialize_grads"):
        taeda.autograd.grad((x * 3).sum(), x, allow_unused=False, materialize_grads=True)
    for nothing in ([], ()):
        with pytest.raises(RuntimeError, match="at least one tensor"):
            taeda.autograd.grad((x * 3).sum(), nothing)


def test_inputs_limit_accumulation():
    x, y = leaf(1.0), leaf(2.0)
    (x * y).sum().backward(inputs=[x])
    assert x.grad.tolist() == [2.0]
    assert y.grad is None


def test_gradient_of_an_intermediate():
    x = leaf(1.0)
    middle = x * 2
    (found,) = taeda.autograd.grad((middle * middle).sum(), middle)
    assert found.tolist() == [4.0]


@pytest.mark.parametrize("number", [1, 100_000, -1, 2**32])
def test_an_edge_names_an_output_that_exists(number):
    y = leaf(1.0) * 2
    edge = taeda.autograd.graph.GradientEdge(y.grad_fn, number)
    with pytest.raises(ValueError, match=r"output_nr is .*MulBackward0.* has 1 output"):
        taeda.autograd.grad(y.sum(), [edge])


def test_a_tuple_among_the_roots_is_refused():
    y = (leaf(1.0) * 2).sum()
    with pytest.raises(TypeError, match=r"element 1 of tensors is a tuple; wanted a tensor"):
        taeda.autograd.backward([y, (y, y)])


def test_gradients_ask_types_and_modes():
    class Answers(taeda.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return (func, *args[:2])

    x = taeda.ones(2, requires_grad=True)
    y = taeda.zeros(()).as_subclass(Answers)
    found = taeda.autograd.grad([y], x)
    assert found[0] is taeda.autograd.grad
    assert found[1][0] is y
    assert found[2] is x
    assert taeda.autograd.grad(x.sum(), [x.detach().as_subclass(Answers)])[0] is found[0]


def test_gradients_of_plain_subclasses():
    class Plain(taeda.Tensor):
        """One that leaves everything as it is."""

    x = taeda.tensor([3.0]).as_subclass(Plain).requires_grad_()
    (gradient,) = taeda.autograd.grad((x * x).sum(), x)
    assert gradient.tolist() == [6]
    (x * x).sum().backward()
    assert x.grad.tolist() == [6]


def test_objects_that_answer_for_themselves_are_asked_for_gradients():
    class Stranger:
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            return function, cls in types

    assert taeda.autograd.grad(Stranger(), Stranger()) == (taeda.autograd.grad, True)


def test_modes_and_other_classes_are_asked_for_the_walk_itself():
    from taeda.overrides import TorchFunctionMode

    x, asked = taeda.ones(2, requires_grad=True), []

    class Seen(TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            asked.append(function)
            return function(*args, **(kwargs or {}))

    class Other:
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            asked.append(function)

    loss = x.sum()
    with Seen():
        taeda.autograd.backward(loss)
    assert asked == [taeda.autograd.backward] and x.grad.tolist() == [1, 1]
    taeda.autograd.backward([Other()])
    taeda.autograd.backward(x.sum(), inputs=[Other()])
    assert asked == [taeda.autograd.backward] * 3


def test_generators_of_roots_and_inputs():
    x = taeda.ones(2, requires_grad=True)
    taeda.autograd.backward((r for r in [x.sum()]), inputs=(i for i in [x]))
    assert x.grad.tolist() == [1, 1]
    assert taeda.autograd.grad((r for r in [x.sum()]), (i for i in [x]))[0].tolist() == [1, 1]
