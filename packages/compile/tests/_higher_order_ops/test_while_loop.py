"""What while_loop refuses. That it is the loop it stands for: test_operators."""

from __future__ import annotations

import pytest

import taeda
from taeda import _higher_order_ops as ops

ONE, TWO = taeda.ones(1), taeda.ones(3, 2)
REFUSED = {
    "cond_fn": (lambda: ops.while_loop(3, len, (ONE,)), RuntimeError, "cond_fn must be a function, got int"),
    "carried": (lambda: ops.while_loop(len, len, ONE), RuntimeError, "a tuple, got Tensor"),
    "kind": (lambda: ops.while_loop(len, len, ("a",)), RuntimeError, "numbers, got str"),
    "held": (lambda: ops.while_loop(lambda i: i.sum(), len, (ONE,)), RuntimeError, "a bool tensor with one"),
    "text": (lambda: ops.while_loop(lambda i: "a", len, (ONE,)), RuntimeError, "got str"),
    "no tuple": (lambda: ops.while_loop(lambda i: True, lambda i: i + 1, (ONE,)), RuntimeError, "a tuple of"),
    "other shape": (
        lambda: ops.while_loop(lambda i: True, lambda i: (taeda.cat([i, i]),), (ONE,)),
        RuntimeError, r"must stay a taeda.float32 tensor of shape \[1\] on cpu, got .*\[2\]",
    ),
    "other "
    "type": (lambda: ops.while_loop(lambda i: True, lambda i: (i * 1.5,), (1,)), RuntimeError,
        "type int, got"),
    "alias": (lambda: ops.while_loop(lambda i: True, lambda i: (i.view(1),), (ONE,)), RuntimeError,
        "return a clone"),
    "write": (
        lambda: ops.while_loop(lambda i: True, lambda i: (i.add_(0) + 1,), (taeda.ones(1),)),
        RuntimeError, "body_fn writes to its inputs",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("call", "error", "fact"), REFUSED.values(), ids=REFUSED)
def test_refused(call, error, fact):
    with pytest.raises(error, match=fact):
        call()
