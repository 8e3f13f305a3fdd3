"""The checker itself: it accepts what is right, finds what is wrong, and refuses what it cannot judge."""

from __future__ import annotations

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
