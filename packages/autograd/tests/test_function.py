"""Custom Functions."""

from __future__ import annotations

import pytest

import taeda
from taeda.autograd import Function, gradcheck, gradgradcheck
from taeda.autograd.function import once_differentiable


class Cube(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 3 * x * x


def double(*values: float) -> taeda.Tensor:
    return taeda.tensor(list(values), dtype=taeda.float64, requires_grad=True)


def test_first_and_second_derivative():
    assert gradcheck(Cube.apply, double(0.5, -2.0))
    assert gradgradcheck(Cube.apply, double(0.5, -2.0))


def test_setup_context_style_and_several_results():
    class Both(Function):
        @staticmethod
        def forward(x, y):
            return x * y, x + y

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, product, total):
            x, y = ctx.saved_tensors
            return product * y + total, product * x + total

    assert gradcheck(Both.apply, (double(1.0, 2.0), double(3.0, -1.0)))


def test_missing_gradients_are_zeros_or_none():
    seen = []

    class Two(Function):
        @staticmethod
        def forward(ctx, x, materialize):
            ctx.set_materialize_grads(materialize)
            return x * 1, x * 2

        @staticmethod
        def backward(ctx, first, second):
            seen.append(second)
            return first, None

    for materialize in (True, False):
        Two.apply(double(1.0), materialize)[0].sum().backward()
    assert seen[0].tolist() == [0.0]
    assert seen[1] is None


def test_mark_dirty_writes_in_place():
    class AddOne(Function):
        @staticmethod
        def forward(ctx, x):
            x.add_(1)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, grad):
            return grad * 7

    x = double(1.0)
    y = x * 1
    z = AddOne.apply(y)
    assert z is y
    z.sum().backward()
    assert x.grad.tolist() == [7.0]
    with pytest.raises(RuntimeError, match="leaf Variable"):
        AddOne.apply(double(1.0))


def test_non_differentiable_results_and_integers():
    class Split(Function):
        @staticmethod
        def forward(ctx, x):
            fixed, index = x * 2, taeda.tensor([1, 2])
            ctx.mark_non_differentiable(fixed)
            return x * 1, fixed, index

        @staticmethod
        def backward(ctx, grad, unused, other):
            return grad

    value, fixed, index = Split.apply(double(1.0))
    assert value.requires_grad
    assert not fixed.requires_grad
    assert not index.requires_grad


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (lambda ctx, g: (g, g), "incorrect number of gradients"),
        (lambda ctx, g: 3, "expected Tensor or None"),
        (lambda ctx, g: taeda.ones(9), "invalid gradient"),
    ],
    ids=["too many", "no tensor", "wrong shape"],
)
def test_bad_gradients_are_refused(body, message):
    class Bad(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        backward = staticmethod(body)

    with pytest.raises(RuntimeError, match=message):
        Bad.apply(double(1.0, 2.0)).sum().backward()


def test_missing_methods_and_instances_are_refused():
    class Nothing(Function):
        pass

    with pytest.raises(NotImplementedError, match="forward"):
        Nothing.apply(double(1.0))
    with pytest.raises(RuntimeError, match="instantiated"):
        Nothing()


def test_saved_tensors_notice_writes_and_freeing():
    x = double(1.0) * 1
    y = Cube.apply(x)
    x.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
    z = Cube.apply(double(1.0)).sum()
    z.backward()
    with pytest.raises(RuntimeError, match="second time"):
        z.backward()


def test_once_differentiable_refuses_the_second_time():
    class Once(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @once_differentiable
        def backward(ctx, grad):
            return grad * 2 * ctx.saved_tensors[0]

    x = double(3.0)
    pull = double(1.0)
    (slope,) = taeda.autograd.grad(Once.apply(x), x, pull, create_graph=True)
    assert slope.tolist() == [6.0]
    with pytest.raises(RuntimeError, match="once_differentiable"):
        slope.sum().backward()


def test_saving_what_is_no_tensor():
    class Bad(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(3)

        @staticmethod
        def backward(ctx, grad):
            return grad

    with pytest.raises(TypeError, match="can only save variables"):
        Bad.apply(double(1.0))


def test_nested_forms_are_one_node():
    class Mixed(taeda.autograd.function.NestedIOFunction):
        @staticmethod
        def forward_extended(ctx, pair, more, scale=1):
            return [pair["a"] * 2 * scale, (more[0] * pair["b"], 7)]

        @staticmethod
        def backward_extended(ctx, gradients):
            return {"a": gradients[0] * 2, "b": None}, [gradients[1][0] * 3]

    x, y = (taeda.full((2,), v, requires_grad=True) for v in (1.0, 2.0))
    first, (second, number) = Mixed.apply({"a": x, "b": taeda.tensor(3.0)}, [y], scale=1)
    assert (first.tolist(), second.tolist(), number) == ([2, 2], [6, 6], 7)
    (first.sum() + second.sum()).backward()
    assert (x.grad.tolist(), y.grad.tolist()) == ([2, 2], [3, 3])


def test_older_bases():
    function = taeda.autograd.function
    assert function.InplaceFunction(inplace=True).inplace
    assert issubclass(function.BackwardCFunction, function.FunctionCtx)


def test_a_view_that_a_function_returned_does_not_outlive_a_write_into_its_base():
    class Shown(Function):
        @staticmethod
        def forward(ctx, x, base):
            return base.view_as(base)

        @staticmethod
        def backward(ctx, grad):
            return grad, None

    x = taeda.ones(3, requires_grad=True)
    base = x * 1
    shown = Shown.apply(base, base)
    piece = shown[1:]
    with taeda.no_grad():
        base.add_(1)  # the business of who wrote it
    (shown.sum() + piece.sum()).backward(retain_graph=True)
    assert x.grad.tolist() == [1.0, 2.0, 2.0]
    base.mul_(2)
    for use in (taeda.sum, lambda y: y[1:], lambda y: y * 1):
        with pytest.raises(RuntimeError, match="its base or another view"):
            use(shown)
