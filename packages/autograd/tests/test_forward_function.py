"""Custom Functions in forward mode."""

from __future__ import annotations

import pytest

import taeda
from taeda.autograd import Function, grad, gradcheck, gradgradcheck
from taeda.autograd.forward_ad import dual_level, make_dual, unpack_dual


class Product(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        ctx.save_for_forward(y, x)
        return x * y

    @staticmethod
    def backward(ctx, gradient):
        x, y = ctx.saved_tensors
        return gradient * y, gradient * x

    @staticmethod
    def jvp(ctx, x_t, y_t):
        y, x = ctx.saved_tensors
        return x_t * y + x * y_t


def pair():
    return [taeda.tensor([1.0, 2.0], dtype=taeda.float64, requires_grad=True) for _ in range(2)]


@pytest.fixture
def dual():
    with dual_level():
        yield make_dual(taeda.tensor([1.0, 2.0]), taeda.tensor([3.0, 4.0]))


def with_jvp(function):
    return type("Made", (Product,), {"jvp": staticmethod(function)})


def test_all_modes_agree():
    assert gradcheck(Product.apply, pair(), check_forward_ad=True)
    assert gradgradcheck(Product.apply, pair(), check_fwd_over_rev=True)


def test_missing_tangents_are_zeros(dual):
    made = Product.apply(dual, taeda.tensor([5.0, 6.0]))
    assert unpack_dual(made).tangent.tolist() == [15, 24]


def test_missing_tangents_may_stay_none(dual):
    came = []

    class Watched(Function):
        @staticmethod
        def forward(ctx, x, y, number):
            ctx.set_materialize_grads(False)
            return x + y

        @staticmethod
        def jvp(ctx, *tangents):
            came.extend(tangents)
            return tangents[0]

    Watched.apply(dual, taeda.ones(2), 3)
    assert came[0].tolist() == [3, 4] and came[1:] == [None, None]


def test_jvp_runs_only_for_duals():
    refuse = with_jvp(lambda ctx, *tangents: pytest.fail("called"))
    with dual_level():
        assert Product.apply(taeda.ones(2), taeda.ones(2)).tolist() == [1, 1]
        refuse.apply(taeda.ones(2), taeda.ones(2))


def test_reverse_over_forward():
    x = taeda.tensor([1.0, 2.0], requires_grad=True)
    with dual_level():
        dual = make_dual(x, taeda.ones(2))
        slope = unpack_dual(Product.apply(dual, dual * 3)).tangent
        assert grad(slope.sum(), x)[0].tolist() == [6, 6]


def test_setup_context_style(dual):
    class Split(Function):
        @staticmethod
        def forward(x):
            return x * 2, x.argmax()

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.mark_non_differentiable(output[1])

        @staticmethod
        def jvp(ctx, x_t):
            return x_t * 2, None

    doubled, place = Split.apply(dual)
    assert unpack_dual(doubled).tangent.tolist() == [6, 8]
    assert unpack_dual(place).tangent is None


def test_a_written_input(dual):
    class Triple(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(3)

        @staticmethod
        def jvp(ctx, x_t):
            return x_t.mul_(3)

    made = dual * 1
    tail = made[1:]
    assert Triple.apply(made) is made
    assert unpack_dual(made).tangent.tolist() == [9, 12]
    assert unpack_dual(tail).tangent.tolist() == [12]


def test_without_jvp_it_is_refused(dual):
    class Plain(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    with pytest.raises(NotImplementedError, match="implement the jvp function"):
        Plain.apply(dual)


@pytest.mark.parametrize(
    ("returned", "text"),
    [
        (3, "returned a int as forward gradient 0: expected Tensor or None"),
        (taeda.ones(3), r"output 0 is of size \[2\] while its forward gradient is of size \[3\]"),
        ((taeda.ones(2), taeda.ones(2)), "invalid number of forward gradients .expected 1.* got 2"),
    ],
)
def test_what_jvp_may_not_return(returned, text, dual):
    with pytest.raises(RuntimeError, match=text):
        with_jvp(lambda ctx, *tangents: returned).apply(dual, dual)


def test_no_tangent_is_none(dual):
    made = with_jvp(lambda ctx, *tangents: None).apply(dual, dual)
    assert unpack_dual(made).tangent is None


def test_jvp_may_apply_its_own_function_to_what_was_saved():
    def jvp(ctx, x_t, y_t):
        y, x = ctx.saved_tensors
        assert unpack_dual(x).tangent is None and unpack_dual(y).tangent is None
        return Product.apply(x_t, y) + made.apply(x, y_t)

    made = with_jvp(jvp)
    assert gradcheck(made.apply, pair(), check_forward_ad=True)
    assert gradgradcheck(made.apply, pair(), check_fwd_over_rev=True)


def test_a_saved_tensor_that_jvp_returns_leaves_its_own_tangent_behind(dual):
    made = with_jvp(lambda ctx, x_t, y_t: ctx.saved_tensors[1]).apply(dual, taeda.ones(2))
    tangent = unpack_dual(made).tangent
    assert tangent.tolist() == [1.0, 2.0] and unpack_dual(tangent).tangent is None
