"""What map refuses. That it is the loop it stands for: test_operators."""

from __future__ import annotations

import pytest

import taeda
from taeda import _higher_order_ops as ops

ONE, TWO = taeda.ones(1), taeda.ones(3, 2)
REFUSED = {
    "sizes": (lambda: ops.map(len, (ONE, TWO)), RuntimeError, r"one size.*\[1\], \[3, 2\]"),
    "no tensor": (lambda: ops.map(lambda x: 3, TWO), RuntimeError, "must give tensors, got int"),
    "point": (lambda: ops.map(len, taeda.ones(())), IndexError, "no dimension 0"),
}  # fmt: skip


@pytest.mark.parametrize(("call", "error", "fact"), REFUSED.values(), ids=REFUSED)
def test_refused(call, error, fact):
    with pytest.raises(error, match=fact):
        call()
