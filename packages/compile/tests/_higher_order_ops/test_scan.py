"""What scan refuses, and trees through it. That it is the loop it stands for: test_operators."""

from __future__ import annotations

import pytest

import taeda
from taeda import _higher_order_ops as ops

ONE, TWO = taeda.ones(1), taeda.ones(3, 2)


def running(carry, x):
    carry = carry * 0.5 + x.sin()
    return carry, carry * x


REFUSED = {
    "init": (lambda: ops.scan(running, [], TWO), RuntimeError, "init holds no tensor"),
    "xs": (lambda: ops.scan(running, ONE, 3), RuntimeError, "xs must hold tensors, got int"),
    "pair": (lambda: ops.scan(lambda c, x: c + x, TWO[0], TWO), RuntimeError, "and an output, got Tensor"),
    "carry": (lambda: ops.scan(lambda c, x: (c.double(), x * 1), TWO[0], TWO), RuntimeError, "float64"),
    "given back": (lambda: ops.scan(lambda c, x: (c, x + 1), TWO[0], TWO), RuntimeError, "return a clone"),
    "no slice": (lambda: ops.scan(running, ONE, taeda.ones(0, 1)), RuntimeError, r"above 0.*\[0, 1\]"),
    "no dimension": (lambda: ops.scan(running, ONE, TWO, dim=2), IndexError, r"dimension 2.*\[3, 2\]"),
}  # fmt: skip


@pytest.mark.parametrize(("call", "error", "fact"), REFUSED.values(), ids=REFUSED)
def test_refused(call, error, fact):
    with pytest.raises(error, match=fact):
        call()


def test_the_last_carry_and_trees():
    carry, out = ops.scan(
        lambda c, x: ({"a": c["a"] + x[0]}, [c["a"] * x[1]]),
        {"a": taeda.zeros(2)},
        (taeda.ones(3, 2), taeda.ones(3, 2)),
    )
    assert carry["a"].tolist() == [3, 3]
    assert out[0].tolist() == [[0, 0], [1, 1], [2, 2]]
    assert ops.while_loop(lambda i: False, lambda i: (i + 1,), (3,)) == (3,)
