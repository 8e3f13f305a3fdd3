"""What a call of a custom Function keeps, and what its node is asked by hand."""

import pytest

import taeda
from taeda.autograd import Function
from taeda.autograd.function import BackwardCFunction, FunctionCtx


class Both(Function):
    """Two results of two inputs, each way by hand."""

    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        ctx.seen = type(ctx)
        return x * y, x + y

    @staticmethod
    def backward(ctx, product, total):
        x, y = ctx.saved_tensors
        return product * y + total, product * x + total

    @staticmethod
    def jvp(ctx, dx, dy):
        return dx + dy


def made():
    x, y = (taeda.tensor([v], requires_grad=True) for v in (2.0, 3.0))
    return Both.apply(x, y)[0].grad_fn


def test_the_context_is_one_of_the_older_base():
    assert made().seen is BackwardCFunction
    assert issubclass(BackwardCFunction, FunctionCtx)


def test_a_node_runs_backward_and_jvp_by_hand():
    one, none = taeda.ones(1), None
    node = made()
    assert [g.item() for g in node.apply(one, one)] == [4.0, 3.0]
    assert [g.item() for g in node.apply(one, none)] == [3.0, 2.0]  # what is missing is 0
    assert node.apply_jvp(one, one).item() == 2.0


def test_a_graph_that_is_gone_is_named():
    run = made().apply  # nothing holds the node
    with pytest.raises(RuntimeError, match=r"BothBackward: the graph .* is gone"):
        run(taeda.ones(1), taeda.ones(1))


def test_backward_and_vjp_at_once_are_refused():
    class Two(Both):
        vjp = Both.backward

    x = taeda.ones(1, requires_grad=True)
    with pytest.raises(RuntimeError, match="one of them"):
        Two.apply(x, x)[0].grad_fn.apply(x, x)


def test_only_tensors_are_kept_for_backward():
    with pytest.raises(TypeError, match="type int"):
        FunctionCtx().save_for_backward(1)
