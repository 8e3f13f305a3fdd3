"""What holds for every row of the op table, in a share that a default run affords;
`nox -s properties` goes on.
"""

from __future__ import annotations

import pytest
from properties import (
    aliasing,
    alone,
    both_modes,
    few_digits,
    memory_order,
    near_0,
    no_nan,
    orders,
    saturation,
    targets,
    unset,
)
from samples import ROWS, default_dtype, fits

import taeda

FAMILIES = sorted({row.family for row in ROWS.values()})


def rows(family):
    return [row for row in ROWS.values() if row.family == family]


def in_turns(family, *dtypes):
    """Each row with one of the dtypes: the session `properties` asks for all of them."""
    return [(row, dtypes[n % len(dtypes)]) for n, row in enumerate(rows(family))]


@pytest.mark.parametrize("family", FAMILIES)
def test_results_do_not_depend_on_the_order_of_memory(family):
    found = [
        fault
        for row, short in in_turns(family, "complex64", "bfloat16")
        for dtype in {default_dtype(row), short}
        if fits(row, dtype)
        for fault in memory_order.faults(row, dtype)
    ]
    assert found == []


def test_a_result_that_depends_on_the_order_of_memory_is_found(monkeypatch):
    def flat_sum(x, **more):  # as if memory were always row-major
        return x.as_strided((x.numel(),), (1,)).cumsum(0)

    monkeypatch.setattr("samples.function", lambda row: flat_sum)
    found = list(memory_order.faults(ROWS["sum"], "float64"))
    assert any("transposed" in fault for fault in found)


def test_a_gradient_that_depends_on_the_order_of_memory_is_found(monkeypatch):
    class Wrong(taeda.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.turned = x.stride() != x.contiguous().stride()
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * (3 if ctx.turned else 2)

    monkeypatch.setattr("samples.function", lambda row: lambda x, **more: Wrong.apply(x))
    found = list(memory_order.faults(ROWS["exp"], "float64"))
    assert found
    assert all("gradients" in fault for fault in found)


@pytest.mark.parametrize("family", FAMILIES)
def test_forward_and_backward_mode_are_one_derivative(family):
    found = [
        fault
        for row in rows(family)
        for dtype in {default_dtype(row), "complex128"}
        if fits(row, dtype)
        for fault in both_modes.faults(row, dtype)
    ]
    assert found == []


@pytest.mark.parametrize("family", FAMILIES)
def test_second_derivatives_are_one_number_whichever_mode_takes_which_step(family):
    found = [
        fault
        for row in rows(family)
        for fault in orders.faults(row, default_dtype(row), n=4, m=3, k=2)
    ]
    assert found == []


def test_a_second_derivative_that_one_mode_loses_is_found(monkeypatch):
    class Wrong(taeda.autograd.Function):
        """sin, whose gradient is a constant where it is not recorded."""

        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.sin()

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad * (x if taeda.is_grad_enabled() else x.detach()).cos()

        @staticmethod
        def jvp(ctx, t):
            return t * ctx.saved_tensors[0].cos()

    monkeypatch.setattr("samples.function", lambda row: lambda x, **more: Wrong.apply(x))
    assert "forward over backward" in next(orders.faults(ROWS["exp"], "float64"))


def test_third_derivatives_near_0_keep_their_digits():
    found = [
        fault
        for row in ROWS.values()
        if fits(row, "float64")
        for fault in near_0.faults(row, "float64", n=4, m=3, k=2)
    ]
    assert found == []


def test_derivatives_of_finite_results_are_numbers():
    found = [
        fault
        for row in ROWS.values()
        if fits(row, "float64")
        for fault in no_nan.faults(row, "float64", n=4, m=3, k=2)
    ]
    assert found == []


def test_an_infinity_of_the_other_branch_is_found(monkeypatch):
    def chosen(x, **more):
        return taeda.where(x > 0, x, x.exp() - 1)

    monkeypatch.setattr("samples.function", lambda row: chosen)
    assert "NaN in its derivatives" in next(no_nan.faults(ROWS["exp"], "float64"))


def test_a_derivative_by_a_quotient_is_found_near_0(monkeypatch):
    class Square(taeda.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return 2 * grad * (x**3 / x / x)

        @staticmethod
        def jvp(ctx, t):
            return 2 * t * ctx.saved_tensors[0]

    monkeypatch.setattr("samples.function", lambda row: lambda x, **more: Square.apply(x))
    assert "times 1e-09" in next(near_0.faults(ROWS["exp"], "float64"))


@pytest.mark.parametrize("family", FAMILIES)
def test_a_gradient_asked_for_alone_is_the_one_among_all(family):
    found = [fault for row in rows(family) for fault in alone.faults(row, default_dtype(row))]
    assert found == []


def test_a_gradient_that_is_another_one_alone_is_found(monkeypatch):
    grad = taeda.autograd.grad

    def wrong(results, leaves, *rest, **options):
        made = grad(results, leaves, *rest, **options)
        return made if len(leaves) > 1 else (made[0] * 2,)

    monkeypatch.setattr(taeda.autograd, "grad", wrong)
    assert "numbers differ" in next(alone.faults(ROWS["mul.Tensor"], "float64"))


def test_a_tangent_that_is_not_the_gradients_is_found(monkeypatch):
    class Wrong(taeda.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

        @staticmethod
        def jvp(ctx, tangent):
            return tangent * 3

    monkeypatch.setattr("samples.function", lambda row: lambda x, **more: Wrong.apply(x))
    found = list(both_modes.faults(ROWS["exp"], "float64"))
    assert any("forward" in fault and "backward" in fault for fault in found)


@pytest.mark.parametrize("family", FAMILIES)
def test_targets_hold_the_result_or_are_refused(family):
    found = [fault for row in rows(family) for fault in targets.faults(row, default_dtype(row))]
    assert found == []


def test_a_target_that_is_refused_or_written_too_early_is_found(monkeypatch):
    def exp(x, out=None):
        if out is None:
            return x.exp()
        if out.stride() != x.stride():
            raise RuntimeError("not such a target")
        out.zero_()  # before x is read
        return out.add_(x.exp())

    monkeypatch.setattr("samples.function", lambda row: exp)
    found = list(targets.faults(ROWS["exp"], "float64"))
    assert any("transposed: refused" in fault for fault in found)
    assert any("input 0: target 0" in fault for fault in found)


@pytest.mark.parametrize("family", FAMILIES)
def test_arguments_in_the_memory_that_is_written_count_as_copies_or_are_refused(family):
    found = [
        fault
        for row in rows(family)
        for dtype in {default_dtype(row), "int64", "bool"}
        if fits(row, dtype)
        for fault in aliasing.faults(row, dtype)
    ]
    assert found == []


def test_an_argument_that_is_read_after_it_was_written_is_found(monkeypatch):
    def add_(x, y, alpha=1):
        x.zero_()
        return x.copy_(y.clone())

    monkeypatch.setattr(taeda.Tensor, "index_copy_", lambda x, dim, at, y: add_(x, y))
    found = list(aliasing.faults(ROWS["index_copy"], "float64"))
    assert any("argument 2 whole" in fault for fault in found)
    assert any("argument 2 stepped" in fault for fault in found)


@pytest.mark.parametrize("family", [f for f in FAMILIES if f not in saturation.ELSEWHERE])
def test_sums_at_one_place_do_not_stop_in_16_bits(family):
    found = [
        fault
        for row, dtype in in_turns(family, "bfloat16", "float16")
        if fits(row, dtype)
        for fault in saturation.faults(row, dtype)
    ]
    assert found == []


def test_a_gradient_that_stops_at_256_is_found(monkeypatch):
    def rounded(x, index):  # sums of 16 bits, one term after the other
        class Taken(taeda.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x.take(index)

            @staticmethod
            def backward(ctx, grad):
                added = taeda.zeros(2, dtype=grad.dtype)
                for term in grad[:600]:
                    added[0] += term
                return added

        return Taken.apply(x)

    monkeypatch.setattr("samples.function", lambda row: rounded)
    assert "gradient 0" in next(saturation.faults(ROWS["take"], "bfloat16"))


SHORT = ("bfloat16", "float16", "complex64", "complex32")


@pytest.mark.parametrize("family", FAMILIES)
def test_few_digits_give_what_many_give(family):
    found = [
        fault
        for row, dtype in in_turns(family, *SHORT)
        if fits(row, dtype)
        for fault in few_digits.faults(row, dtype)
    ]
    assert found == []


def test_a_gradient_of_too_few_digits_is_found(monkeypatch):
    class Rough(taeda.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.exp()

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad * (x.exp() if x.dtype is taeda.float64 else x.exp() + 1)

    monkeypatch.setattr("samples.function", lambda row: lambda x, **more: Rough.apply(x))
    found = list(few_digits.faults(ROWS["exp"], "bfloat16"))
    assert found
    assert all("gradient 0" in fault for fault in found)


@pytest.mark.parametrize("family", FAMILIES)
def test_no_result_shows_memory_as_it_was_found(family):
    found = [
        fault
        for row in rows(family)
        for dtype in {default_dtype(row), "float32"}
        if fits(row, dtype)
        for fault in unset.faults(row, dtype)
    ]
    assert found == []


def test_a_result_that_nobody_wrote_is_found(monkeypatch):
    monkeypatch.setattr("samples.function", lambda row: lambda x, **more: taeda.empty_like(x))
    found = list(unset.faults(ROWS["exp"], "float32"))
    assert any("of one number" in fault for fault in found)
