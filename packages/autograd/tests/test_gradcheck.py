"""The checker itself: it accepts what is right, finds what is wrong, and refuses what it cannot judge."""

from __future__ import annotations

import sys

import pytest

import taeda
from taeda.autograd import Function, GradcheckError, gradcheck, gradgradcheck


class WrongSlope(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 3


def double(*values: complex, dtype: object = None) -> taeda.Tensor:
    return taeda.tensor(list(values), dtype=dtype or taeda.float64, requires_grad=True)


@pytest.mark.parametrize("fast", [False, True], ids=["full", "fast"])
def test_right_and_wrong(fast):
    assert gradcheck(lambda x: x.exp() * x, double(0.3, -1.0), fast_mode=fast)
    with pytest.raises(GradcheckError, match="Jacobian mismatch"):
        gradcheck(WrongSlope.apply, double(0.3, -1.0), fast_mode=fast)
    assert not gradcheck(WrongSlope.apply, double(1.0), fast_mode=fast, raise_exception=False)


def test_complex():
    z = double(1 + 2j, -0.5j, dtype=taeda.complex128)
    assert gradcheck(lambda z: z * z, z)
    assert gradcheck(lambda z: z.abs(), z)


def test_second_derivatives():
    assert gradgradcheck(lambda x: x.sin() * x, double(0.3, -1.0))


def test_refusals():
    with pytest.raises(ValueError, match="require gradient"):
        gradcheck(lambda x: x, taeda.ones(1, dtype=taeda.float64))
    with pytest.raises(RuntimeError, match="stride 0"):
        gradcheck(lambda x: x * 1, taeda.ones(1, dtype=taeda.float64).expand(3).requires_grad_())
    with pytest.warns(UserWarning, match="double precision"), pytest.raises(GradcheckError):
        gradcheck(WrongSlope.apply, taeda.ones(1, requires_grad=True))


@pytest.mark.parametrize("fast_mode", [False, True])
def test_a_function_may_hold_its_inputs_otherwise_than_as_arguments(fast_mode):
    weight = taeda.randn(3, 2, dtype=taeda.float64).t().requires_grad_()
    scale = taeda.tensor(1.5, dtype=taeda.complex128, requires_grad=True)
    x = taeda.randn(4, 3, dtype=taeda.float64)
    before = weight.detach().clone()

    def held(*_):
        return (x @ weight.t()).tanh(), (x.sum() * scale).sin()

    assert taeda.autograd.gradcheck(held, (weight, scale), fast_mode=fast_mode)
    assert taeda.autograd.gradgradcheck(held, (weight, scale), fast_mode=fast_mode)
    assert taeda.equal(weight, before)


def test_inputs_are_as_before_when_the_function_raises():
    x = taeda.ones(3, dtype=taeda.float64, requires_grad=True)
    calls = []

    def fails_later(x):
        calls.append(x)
        if len(calls) > 4:
            raise KeyError("words")
        return x * 2

    with pytest.raises(KeyError):
        taeda.autograd.gradcheck(fails_later, x)
    assert x.tolist() == [1, 1, 1]


def test_gradients_at_once(monkeypatch):
    x = double(0.5, 2.0)
    assert gradcheck(lambda x: x.sin() * x, x, check_batched_grad=True)
    assert gradgradcheck(lambda x: x.sin() * x, x, check_batched_grad=True)
    module = sys.modules["taeda.autograd.gradcheck"]
    real = module._grad

    def doubled(*args, is_grads_batched=False, **kwargs):
        found = real(*args, is_grads_batched=is_grads_batched, **kwargs)
        return tuple(2 * g for g in found) if is_grads_batched else found

    def refused(*args, is_grads_batched=False, **kwargs):
        if is_grads_batched:
            raise RuntimeError("not for several")
        return real(*args, **kwargs)

    for broken, text in ((doubled, "differ"), (refused, "not for several")):
        monkeypatch.setattr(module, "_grad", broken)
        assert gradcheck(lambda x: x * x, x)
        with pytest.raises(GradcheckError, match=text):
            gradcheck(lambda x: x * x, x, check_batched_grad=True)
        assert not gradcheck(lambda x: x * x, x, check_batched_grad=True, raise_exception=False)


def test_tangents_at_once(monkeypatch):
    x, y = double(0.5, 2.0), double(1.0, 3.0)
    both = {"check_forward_ad": True, "check_batched_forward_grad": True}
    assert gradcheck(lambda x, y: (x.sin() * y, x.sum()), (x, y), **both)
    module = sys.modules["taeda.autograd.gradcheck"]
    real = taeda.vmap
    for broken, text in (
        (lambda f: lambda t: tuple(2 * d for d in real(f)(t)), "differ"),
        (lambda f: lambda t: taeda.ones(2) @ taeda.ones(3), "several tangents"),
    ):
        monkeypatch.setattr(module.taeda, "vmap", broken)
        assert gradcheck(lambda x: x * x, x, check_batched_forward_grad=True)  # no forward mode
        with pytest.raises(GradcheckError, match=text):
            gradcheck(lambda x: x * x, x, **both)
        monkeypatch.undo()


def test_dtypes_of_gradients(monkeypatch):
    x = double(0.5, 2.0)
    assert gradcheck(lambda x: x * x, x, check_grad_dtypes=True)
    module = sys.modules["taeda.autograd.gradcheck"]
    real = module._grad

    def short(*args, **kwargs):
        return tuple(g.float() for g in real(*args, **kwargs))

    monkeypatch.setattr(module, "_grad", short)
    with pytest.raises(GradcheckError, match="float32"):
        module._check_dtypes(lambda x: x * x, (x,))


def test_gradients_with_gaps():
    seen = []

    class Watching(taeda.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            seen.append(gradient.is_contiguous())
            return gradient * 2

    assert gradgradcheck(Watching.apply, double(0.5, 2.0))
    assert seen[0]
    seen.clear()
    assert gradgradcheck(Watching.apply, double(0.5, 2.0), gen_non_contig_grad_outputs=True)
    assert not seen[0]
