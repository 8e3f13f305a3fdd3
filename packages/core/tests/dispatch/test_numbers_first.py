"""A number before the tensors that it scales, as older programs write it."""

from __future__ import annotations

import subprocess
import sys

import pytest

import taeda

pytestmark = pytest.mark.filterwarnings("ignore:.*a number before the tensors:UserWarning")
x, y = taeda.arange(4.0).reshape(2, 2), taeda.ones(2, 2) * 3
v, b = taeda.tensor([1.0, 2.0]), taeda.arange(8.0).reshape(2, 2, 2)

SAME = {
    "add": (lambda: taeda.add(x, 2, y), lambda: x + 2 * y),
    "add_": (lambda: x.clone().add_(2, y), lambda: x + 2 * y),
    "sub": (lambda: x.sub(2, y), lambda: x - 2 * y),
    "a keyword as well": (lambda: taeda.add(x, 2, other=y), lambda: x + 2 * y),
    "out": (lambda: taeda.add(x, 2, y, out=taeda.empty(2, 2)), lambda: x + 2 * y),
    "numbers for tensors": (lambda: taeda.add(1, 2, y), lambda: 1 + 2 * y),
    "addcmul": (lambda: taeda.addcmul(x, 2, y, y), lambda: x + 2 * y * y),
    "addcdiv_": (lambda: x.clone().addcdiv_(2, y, y), lambda: x + 2 * y / y),
    "addmm": (lambda: taeda.addmm(2, x, 3, y, x), lambda: 2 * x + 3 * (y @ x)),
    "addmm of beta": (lambda: x.addmm(2, y, x), lambda: 2 * x + y @ x),
    "addmm_": (lambda: x.clone().addmm_(2, 3, y, x), lambda: 2 * x + 3 * (y @ x)),
    "addmv": (lambda: taeda.addmv(2, v, x, v), lambda: 2 * v + x @ v),
    "addr": (lambda: taeda.addr(2, x, 3, v, v), lambda: 2 * x + 3 * v[:, None] * v),
    "addbmm": (lambda: taeda.addbmm(2, x, 3, b, b), lambda: 2 * x + 3 * (b @ b).sum(0)),
    "baddbmm": (lambda: b.baddbmm(2, 3, b, b), lambda: 2 * b + 3 * (b @ b)),
}  # fmt: skip


@pytest.mark.parametrize(("call", "plain"), SAME.values(), ids=SAME)
def test_numbers_stand_first(call, plain):
    assert call().tolist() == plain().tolist()


REFUSED = {
    "two factors": lambda: taeda.add(x, 2, y, alpha=3),
    "a number behind": lambda: taeda.addcmul(x, y, y, 2),
    "a number between": lambda: taeda.addcmul(x, y, 2, y),
    "no tensor behind": lambda: taeda.add(x, y, 2),
    "beta behind self": lambda: taeda.addmm(x, 2, y, x),
    "alpha alone": lambda: taeda.addmm(x, y, 3, x),
    "of index_add": lambda: taeda.index_add(x, 0, taeda.tensor([0]), x[:1], 2),
    "too many": lambda: taeda.add(x, 2, y, y, y, y, y, y, y),
}


@pytest.mark.parametrize("call", REFUSED.values(), ids=REFUSED)
def test_other_orders_are_refused(call):
    with pytest.raises(TypeError):
        call()


def test_the_fault_is_told_in_the_order_of_today():
    with pytest.raises(TypeError, match=r"add\(\): argument 'other' \(position 2\) must be Tensor"):
        taeda.add(x, "two", y)


def test_gradients_and_subclasses():
    class Named(taeda.Tensor):
        pass

    a = taeda.ones(2, requires_grad=True)
    taeda.add(a, 2, a).sum().backward()
    assert a.grad.tolist() == [3.0, 3.0]
    assert isinstance(taeda.ones(2).as_subclass(Named).add(2, taeda.ones(2)), Named)


def test_the_warning_comes_once():
    code = """
import warnings, taeda
x = taeda.ones(2)
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    x.add_(2, x)
    x.sub_(2, x)
assert len(told) == 1 and told[0].category is UserWarning, told
assert "add_() with a number before the tensors" in str(told[0].message)
warnings.simplefilter("error")
"""
    subprocess.run([sys.executable, "-c", code], check=True)
