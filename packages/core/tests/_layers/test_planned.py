"""A type whose calls are planned: what the core computes alone, and what it asks for."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

import taeda
from taeda._core_api.operators import plan_calls, result_in_parts

TYPE = """
import taeda
from taeda import Tensor
from taeda._core_api.operators import forget_plans, hold_plans, plan_calls, result_in_parts

class Spec:
    def __init__(self):
        self.plans = {}

class Half(Tensor):  # of a tensor with twice as many rows
    @staticmethod
    def __new__(cls, local, spec):
        size = (2 * local.shape[0], *local.shape[1:])
        return Tensor._make_wrapper_subclass(cls, size, dtype=local.dtype)

    def __init__(self, local, spec):
        self._local, self._spec, self._copied_from = local, spec, None

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return run(func, args, kwargs or {})[0]

asked, spec = [], Spec()

def run(func, args, kwargs):
    asked.append(str(func))
    made = func(*(a._local if type(a) is Half else a for a in args), **kwargs)
    if str(func).endswith("_.Tensor"):
        return args[0], plan(args[0]._local)
    return Half(made, spec), plan(made)

def plan(local):
    size = 2 * local.shape[0], local.shape[1]
    return (result_in_parts(spec, said or local.shape, size, (local.shape[1], 1)),)

said = None
plan_calls(Half, run)
x = Half(taeda.ones(2, 3), spec)
"""


def in_a_process(code: str) -> str:
    """A type may be planned once in a process, and others' tests have theirs."""
    command = [sys.executable, "-c", TYPE + textwrap.dedent(code)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_planned_call_gives_tensors_of_the_type_without_asking():
    in_a_process(
        """
        for _ in range(3):
            y = x + x
        assert asked == ["aten.add.Tensor"]
        assert type(y) is Half and y.shape == (4, 3) and y.stride() == (3, 1)
        assert y._local.tolist() == [[2.0] * 3] * 2 and y._spec is spec and y._copied_from is None
        assert all(y.add_(x) is y for _ in range(3)) and y._local.sum().item() == 30
        assert asked[1:] == ["aten.add_.Tensor"]
        """
    )


def test_layers_listeners_copies_and_changed_facts_are_asked():
    in_a_process(
        """
        from taeda.utils._python_dispatch import TorchDispatchMode

        class Mode(TorchDispatchMode):
            def __torch_dispatch__(self, func, types, args=(), kwargs=None):
                heard.append(str(func))
                return func(*args, **(kwargs or {}))

        heard = []
        x.neg(), x.neg()
        assert len(asked) == 1
        forget_plans()
        x.neg(), x.neg()
        assert len(asked) == 2
        hold_plans(True)
        x.neg()
        hold_plans(False)
        assert len(asked) == 3
        with Mode():
            x.neg()
        assert heard == ["aten.neg.default"] and len(asked) == 3  # below the mode by its plan
        x._copied_from = x, 0
        x.neg()
        assert len(asked) == 4
        """
    )


def test_gradients_and_errors_are_those_of_other_calls():
    in_a_process(
        """
        import taeda.autograd
        said = 1, 1
        x.neg()
        try:
            x.neg()
        except RuntimeError as error:
            assert "a part has another shape than the rule says" in str(error), error
        else:
            raise SystemExit("no error")
        said = None
        forget_plans()
        leaf = Half(taeda.ones(2, 3), spec).requires_grad_()
        for _ in range(2):
            (grad,) = taeda.autograd.grad(leaf * leaf, leaf, Half(taeda.ones(2, 3), spec))
            assert grad._local.tolist() == [[2.0] * 3] * 2
            try:
                leaf + taeda.ones(3)
            except TypeError:  # our own `run` does not know it
                pass
        for _ in range(2):
            try:
                x + Half(taeda.ones(3, 2), spec)
            except RuntimeError as error:
                assert "size" in str(error), error
            else:
                raise SystemExit("no error")
        """
    )


def test_what_is_no_type_of_tensors_is_refused():
    with pytest.raises(TypeError, match="a subclass of Tensor and a function"):
        plan_calls(int, print)
    spec, part, sizes, strides = result_in_parts("s", (2,), (4,), (1,))
    assert (spec, len(part), len(sizes), len(strides)) == ("s", 8, 8, 8)
    assert taeda.tensor(2) + 1 == 3
