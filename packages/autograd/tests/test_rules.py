"""Every op has a rule or a stated reason; the C rules equal the Python ones."""

from __future__ import annotations

import pytest

import taeda
import taeda.autograd
from taeda._native import core

FACTORY = 2  # TD_F_FACTORY: only shape and dtype of the arguments count


def test_every_kernel_has_a_rule_or_a_reason():
    owed = [
        name for name, _, kind, _, _, flags in core.op_rows()
        if kind != "composite" and not flags & FACTORY and not core.has_rule(name)
    ]  # fmt: skip
    assert owed == []


FAST = {
    "add.Tensor": lambda x, y: x + y,
    "sub.Tensor": lambda x, y: x - y,
    "mul.Tensor": lambda x, y: x * y,
    "div.Tensor": lambda x, y: x / 3.0,
    "neg": lambda x, y: -x,
    "mm": lambda x, y: x @ y,
    "sum": lambda x, y: (x * y).sum(),
}


@pytest.mark.parametrize("name", FAST)
def test_fast_rule_equals_the_python_rule(name):
    x, y = (taeda.randn(3, 3, dtype=taeda.float64, requires_grad=True) for _ in range(2))
    fast = taeda.autograd.grad(FAST[name](x, y).sum(), [x, y], allow_unused=True)
    slow = taeda.autograd.grad(FAST[name](x, y).sum(), [x, y], allow_unused=True, create_graph=True)
    for a, b in zip(fast, slow, strict=True):
        assert (a is None) == (b is None)
        assert a is None or bool((a == b.detach()).all())
