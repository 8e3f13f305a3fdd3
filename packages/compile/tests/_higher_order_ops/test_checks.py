"""What is asked around calls of users' functions."""

from __future__ import annotations

import pytest

import taeda
from taeda._higher_order_ops import _checks


def test_memory_is_looked_at_once_a_call():
    x = taeda.ones(4)
    with _checks.pure("scan", "f", (x, 3)) as check:
        check((x + 1, taeda.ones(0), "a"))
    with pytest.raises(RuntimeError, match="a view of it"), _checks.pure("scan", "f", x) as check:
        check([x[1:]])
    with pytest.raises(RuntimeError, match="writes"), _checks.pure("scan", "f", [x]):
        x.zero_()


def test_inference_tensors_have_no_version():
    with taeda.inference_mode():
        x = taeda.ones(2)
        with _checks.pure("scan", "f", x) as check:
            check(x + 1)


def test_structures_are_compared_before_tensors():
    with pytest.raises(RuntimeError, match="must keep its structure"):
        _checks.alike("scan", "the carry", (1, 2), [1, 2])
    _checks.alike("scan", "the carry", {"a": taeda.ones(2)}, {"a": taeda.zeros(2)})


def test_slices_come_in_the_order_of_the_steps():
    steps, spec = _checks.slices("scan", {"a": taeda.arange(3)}, 0, reverse=True)
    assert [int(leaf) for (leaf,) in steps] == [2, 1, 0]
    assert spec.unflatten(steps[0])["a"] == 2
