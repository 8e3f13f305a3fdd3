"""Arithmetic for tracers on plain numbers, branches, assertions."""

from __future__ import annotations

import numpy as np
import pytest

import taeda
from taeda._layers import tracers


def test_numbers():
    assert taeda.sym_int(-2.5) == -2 and taeda.sym_int(2.5) == 2 and taeda.sym_int(True) == 1
    assert taeda.sym_float(3) == 3.0 and isinstance(taeda.sym_float(3), float)
    assert taeda.sym_not(0) is True and taeda.sym_not(3) is False
    assert repr(taeda.sym_max(3, 2.0)) == "3.0" and repr(taeda.sym_min(2, 2.0)) == "2.0"
    assert repr(taeda.sym_max(3, 2)) == "3" and taeda.sym_min(np.int64(1), 2) == 1
    assert taeda.sym_sum([1, 2.5]) == 3.5 and taeda.sym_sum([]) == 0
    assert taeda.sym_ite(True, 2, 3) == 2 and taeda.sym_ite(False, "a", "b") == "b"


def test_numbers_that_depend_on_sizes_are_asked_for_beside_pythons():
    n = taeda.ones(3).shape[0]
    assert isinstance(n, (int, taeda.SymInt)) and not isinstance(n, taeda.SymInt)
    assert isinstance(0.5, (float, taeda.SymFloat)) and isinstance(True, (bool, taeda.SymBool))
    assert taeda.sym_fresh_size(n) == 3 and taeda.sym_fresh_size(np.int64(4)) == 4
    for kind in (taeda.SymInt, taeda.SymFloat, taeda.SymBool):
        assert kind.__module__.startswith("taeda") and not isinstance(2.5, kind)
        with pytest.raises(TypeError, match=f"{kind.__name__} cannot be made by hand: sizes are"):
            kind(3)
    with pytest.raises(TypeError):
        taeda.sym_fresh_size(2.5)


def test_a_float_of_sizes_answers_by_its_number():
    class Half(taeda.SymFloat):
        def __float__(self):
            return 0.5

        __slots__ = ()

    class Kind(Half):
        pass

    made = Kind()
    assert made.as_integer_ratio() == (1, 2) and made.hex() == (0.5).hex()
    assert not made.is_integer() and made.conjugate() is made


@pytest.mark.parametrize("pred", [True, taeda.tensor(True), taeda.tensor([1])], ids=str)
def test_branches(pred):
    x = taeda.ones(2, requires_grad=True)
    made = taeda.cond(pred, lambda x: x * 2, lambda x: x * 3, (x,))
    made.sum().backward()
    assert x.grad.tolist() == [2, 2]
    assert taeda.cond(not pred, lambda: 1, lambda: 2) == 2


def test_assertions():
    taeda._assert(taeda.tensor(1), "fine")
    with pytest.raises(AssertionError, match="too few"):
        taeda._assert(False, "too few")


REFUSED = {
    "text": (lambda: taeda.sym_int("a"), ValueError, "'a'"),
    "no number": (lambda: taeda.sym_max(1, "a"), AssertionError, "got str: 'a'"),
    "condition": (lambda: taeda.sym_ite(1, 2, 3), AssertionError, "must be a bool, got int"),
    "sides": (lambda: taeda.sym_ite(True, 2, 3.0), AssertionError, "got int and float"),
    "elements": (lambda: taeda.cond(taeda.ones(2), len, len), RuntimeError, r"shape \[2\]"),
    "function": (lambda: taeda.cond(True, 3, len), TypeError, "got int and builtin"),
    "operands": (lambda: taeda.cond(True, len, len, 3), RuntimeError, "tuple of tensors.*int"),
}


@pytest.mark.parametrize(("call", "error", "fact"), REFUSED.values(), ids=REFUSED)
def test_refused(call, error, fact):
    with pytest.raises(error, match=fact):
        call()


def test_a_tracer_may_take_a_choice_by_a_tensor():
    class Chooser:
        def call(self, op, args, run):
            return run()

        def branches(self, pred, true_fn, false_fn, operands):
            return "taken", operands

    tracer = Chooser()
    tracers.push(tracer)
    try:
        assert taeda.cond(taeda.tensor(True), len, len, ((),)) == ("taken", ((),))
        assert taeda.cond(True, len, len, ((),)) == 0
    finally:
        tracers.remove(tracer)
