"""What associative_scan refuses. That it is the loop it stands for: test_operators."""

from __future__ import annotations

import pytest

import taeda
from taeda import _higher_order_ops as ops

ONE, TWO = taeda.ones(1), taeda.ones(3, 2)
REFUSED = {
    "mode": (lambda: ops.associative_scan(taeda.add, TWO, 0, False, "x"), ValueError, "got 'x'"),
}


@pytest.mark.parametrize(("call", "error", "fact"), REFUSED.values(), ids=REFUSED)
def test_refused(call, error, fact):
    with pytest.raises(error, match=fact):
        call()
