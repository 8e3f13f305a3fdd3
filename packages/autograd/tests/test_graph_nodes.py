"""Nodes of the graph as Python sees them: their classes, and what they tell."""

import gc

import pytest

import taeda
from taeda.autograd import Function
from taeda.autograd.graph import Node


class Doubled(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.note = "kept"
        return 2 * x

    @staticmethod
    def backward(ctx, grad):
        return 2 * grad


def test_a_node_is_of_the_class_that_its_name_says():
    x = taeda.ones(3, requires_grad=True)
    total = (x * 2).sum()
    node = total.grad_fn
    assert type(node).__name__ == node.name() == "SumBackward0"
    ((product, _),) = node.next_functions
    (leaf, _), *_ = product.next_functions
    assert [type(n).__name__ for n in (product, leaf)] == ["MulBackward0", "AccumulateGrad"]
    assert all(isinstance(n, Node) for n in (node, product, leaf))
    assert type((x * 3).grad_fn) is type(product)


def test_the_node_of_a_custom_function_shows_its_context():
    node = Doubled.apply(taeda.ones(2, requires_grad=True)).grad_fn
    assert type(node).__name__ == "DoubledBackward"
    assert node.note == "kept"
    with pytest.raises(AttributeError, match="no attribute 'other'"):
        node.other


def test_nodes_are_made_by_operations_only():
    class Mine(Node):
        pass

    for kind in (Node, Mine, type(taeda.ones(1, requires_grad=True).exp().grad_fn)):
        with pytest.raises(TypeError, match="cannot create"):
            kind()
        with pytest.raises(TypeError, match="not safe"):
            object.__new__(kind)


def test_a_renamed_node_is_collected():
    x = taeda.ones(2, requires_grad=True)
    before = sum(isinstance(o, Node) for o in gc.get_objects())
    for _ in range(10):
        assert x.exp().sum().grad_fn.next_functions
    gc.collect()
    assert sum(isinstance(o, Node) for o in gc.get_objects()) <= before + 1
