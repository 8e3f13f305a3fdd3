"""Dispatch modes: what they see, in which form and order."""

from __future__ import annotations

import pytest

import taeda
from taeda import Tensor, library
from taeda.utils._python_dispatch import TorchDispatchMode
from taeda.utils.op_trace import trace_ops

aten = taeda.ops.aten


class Log(TorchDispatchMode):
    def __init__(self, answer=None):
        self.calls, self.answer = [], answer

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.calls.append((func, args, kwargs))
        if self.answer is not None:
            return self.answer
        return func(*args, **kwargs)


def test_calls_arrive_as_overloads_with_arguments_of_the_schema():
    x = taeda.ones(2, 3)
    with Log() as log:
        taeda.add(x, x, alpha=2)
        x + x
        x.sum(dim=(0,), keepdim=True)
        x.sum(dim=0)
        taeda.split(x, 1)
    funcs = [call[0] for call in log.calls]
    assert funcs[:4] == [
        aten.add.Tensor,
        aten.add.Tensor,
        aten.sum.dim_IntList,
        aten.sum.dim_IntList,
    ]
    assert [kwargs for _, _, kwargs in log.calls][:2] == [{"alpha": 2}, {}]
    assert [len(args) for _, args, _ in log.calls][:4] == [2, 2, 3, 2]
    assert str(funcs[4]).startswith("aten.split")


def test_the_inner_mode_is_first_and_off_while_it_runs():
    x = taeda.ones(2)
    with Log() as outer, Log() as inner, trace_ops() as trace:
        y = x * 2
    assert y.tolist() == [2.0, 2.0]
    assert len(outer.calls) == len(inner.calls) == len(trace.calls) == 1
    zeros = taeda.zeros(2)
    with Log() as outer, Log(answer=zeros) as inner:
        assert (x * 2).tolist() == [0.0, 0.0]
    assert not outer.calls
    x * 2
    assert len(inner.calls) == 1


def test_a_mode_that_fails_or_declines_stays_on_its_stack():
    class Fails(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            if func is aten.mul.Tensor:
                raise KeyError("mine")
            return NotImplemented

    x = taeda.ones(1)
    with Fails():
        for _ in range(2):
            with pytest.raises(KeyError, match="mine"):
                x * 2
        with pytest.raises(TypeError, match=r"aten\.add\.Tensor.*declined"):
            x + 2
    assert taeda.is_grad_enabled()
    assert (x * 2).item() == 2
    with (
        pytest.raises(NotImplementedError, match="defines no __torch_dispatch__"),
        TorchDispatchMode.push(),
    ):
        x * 2


@library.custom_op("tdisp::half", mutates_args=())
def half(x: Tensor, by: float = 2.0, *, shift: int = 0) -> Tensor:
    return x / by + shift


def test_a_custom_op_arrives_as_a_built_in_does():
    x = taeda.ones(2)
    with Log() as log:
        made = half(x, shift=1)
        half(x, 2.0)
    assert made.tolist() == [1.5, 1.5]
    func, args, kwargs = log.calls[0]
    assert (func, kwargs) == (taeda.ops.tdisp.half.default, {"shift": 1})
    assert len(args) == 1
    assert args[0] is x
    assert len(log.calls[1][1]) == 1
    assert len(log.calls) == 2


def test_a_rule_for_one_operator_and_one_mode():
    class Mine(Log):
        pass

    @library.register_torch_dispatch("tdisp::half", Mine)
    def _(mode, func, types, args, kwargs):
        return func(*args, **kwargs) + 100

    x = taeda.ones(1)
    with Mine() as mode:
        assert half(x).item() == 100.5
        x * 2
    assert [str(call[0]) for call in mode.calls] == ["aten.mul.Tensor"]
    with Log():
        assert half(x).item() == 0.5
    with pytest.raises(RuntimeError, match="already has a `__torch_dispatch__` rule"):
        half.register_torch_dispatch(Mine, lambda *args: None)
