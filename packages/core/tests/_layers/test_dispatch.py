"""Who sees a call, and in which order."""

from __future__ import annotations

import threading

import pytest

import taeda
from taeda import Tensor
from taeda._layers import (
    TRANSFORM,
    DisableTorchFunction,
    DisableTorchFunctionSubclass,
    is_recorded,
    tracers,
)
from taeda._layers import dispatch as _dispatch
from taeda._layers.dispatch import (
    disabled_torch_function,
    has_overrides,
    overriding,
    register_layer,
)
from taeda._native import core
from taeda.overrides import TorchFunctionMode


class Duck:
    """No tensor, but answers every call with the function's name and the types."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func.__name__, [t.__name__ for t in types]


class Declines:
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return NotImplemented


class Sub(Tensor):
    pass


class SubSub(Sub):
    pass


class Other(Tensor):
    pass


def of(kind, *values):
    return taeda.tensor(values).as_subclass(kind)


def test_the_order_is_left_to_right_with_subclasses_first():
    sub, subsub, other, duck = of(Sub, 1), of(SubSub, 1), of(Other, 1), Duck()
    assert [type(a) for a in overriding([sub, other, subsub, duck, sub])] == [
        SubSub,
        Sub,
        Other,
        Duck,
    ]
    assert overriding([1, "a", None, taeda.ones(1)]) == []


def test_a_duck_is_asked_by_functions_methods_and_lists():
    assert taeda.add(Duck(), 1) == ("add", ["Duck"])
    assert taeda.add(taeda.ones(1), Duck()) == ("add", ["Duck"])
    assert taeda.cat([taeda.ones(1), Duck()]) == ("cat", ["Duck"])


def test_results_of_a_subclass_are_of_it():
    made = of(Sub, 1, 2) + 1
    assert type(made) is Sub
    assert made.tolist() == [2, 3]
    assert type(of(SubSub, 1) + of(Sub, 1)) is SubSub
    assert [type(t) for t in of(Sub, 1, 2).unbind()] == [Sub, Sub]
    assert type(of(Sub, 1, 2).max(0).values) is Sub


def test_unrelated_subclasses_do_not_mix():
    with pytest.raises(TypeError, match=r"\[.*Sub, .*Other\]"):
        of(Sub, 1) + of(Other, 1)


def test_all_declining_is_a_type_error_that_names_the_function():
    with pytest.raises(TypeError, match=r"add.*Declines"):
        taeda.add(Declines(), 1)


def test_a_type_that_declines_leaves_it_to_the_next():
    assert taeda.add(Declines(), Duck()) == ("add", ["Declines", "Duck"])


def test_disabled_types_are_plain():
    class Plain(Tensor):
        __torch_function__ = disabled_torch_function

    made = of(Plain, 1)
    assert not has_overrides([made])
    assert type(made + 1) is Tensor


def test_hiding_subclasses():
    with DisableTorchFunctionSubclass():
        assert type(of(Sub, 1) + 1) is Tensor
        assert not has_overrides([Duck()])
    assert type(of(Sub, 1) + 1) is Sub


class Log(TorchFunctionMode):
    def __init__(self, name, log, answer=None):
        self.name, self.log, self.answer = name, log, answer

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.log.append((self.name, func.__name__))
        if self.answer is not None:
            return self.answer
        return func(*args, **(kwargs or {}))


def test_modes_see_calls_innermost_first():
    log = []
    with Log("outer", log), Log("inner", log):
        made = taeda.ones(2) + 1
    assert made.tolist() == [2.0, 2.0]
    assert [name for name, _ in log] == ["inner", "outer"] * 2
    taeda.ones(1)
    assert len(log) == 4


def test_a_mode_is_off_in_its_own_handler():
    class Twice(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {})) + taeda.ones(1)

    with Twice():
        made = taeda.zeros(1)
    assert made.tolist() == [1.0]


def test_a_mode_comes_before_types_and_may_leave_it_to_them():
    with Log("m", [], answer=5):
        assert taeda.add(Duck(), 1) == 5
    with Log("m", [], answer=NotImplemented):
        assert taeda.add(Duck(), 1) == ("add", ["Duck"])


def test_a_mode_that_declines_alone_is_a_type_error():
    with pytest.raises(TypeError, match=r"nor in mode .*Log"), Log("m", [], answer=NotImplemented):
        taeda.ones(1)


def test_an_exception_in_a_handler_leaves_the_mode_on_its_stack():
    class Fails(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            raise KeyError(func.__name__)

    with Fails():
        with pytest.raises(KeyError):
            taeda.ones(1)
        with pytest.raises(KeyError):
            taeda.ones(1)
    assert taeda.ones(1).tolist() == [1.0]


def test_hiding_modes():
    log = []
    with Log("m", log), DisableTorchFunction():
        taeda.ones(1)
    assert log == []


def test_modes_belong_to_their_thread():
    log = []
    with Log("m", log):
        thread = threading.Thread(target=lambda: taeda.ones(1))
        thread.start()
        thread.join()
    assert log == []


def test_printing_is_one_call():
    log = []
    value = taeda.ones(2)
    with Log("m", log):
        repr(value)
    assert log == [("m", "__repr__")]


def test_a_layer_sees_calls_and_is_hidden_while_it_runs(monkeypatch):
    seen = []
    monkeypatch.setattr(_dispatch, "_layers", dict(_dispatch._layers))

    def layer(func, args, kwargs):
        seen.append(func.__name__)
        return func(*args, **kwargs)

    register_layer(TRANSFORM, layer)
    core.set_layer_flag(TRANSFORM, True)
    try:
        made = taeda.ones(2) * 3
    finally:
        core.set_layer_flag(TRANSFORM, False)
    assert made.tolist() == [3.0, 3.0]
    assert len(seen) == 2


def test_tracers_see_kernels_in_order():
    class Tracer:
        def __init__(self):
            self.ops = []

        def call(self, op, args, run):
            self.ops.append(op)
            return run()

    tracer = Tracer()
    x = taeda.ones(3)
    tracers.push(tracer)
    try:
        made = (x * 2).sum()
    finally:
        assert tracers.pop() is tracer
    assert made.item() == 6.0
    assert [op.split(".")[0] for op in tracer.ops] == ["mul", "sum"]
    x + 1
    assert len(tracer.ops) == 2


def test_a_number_first_does_not_make_a_kernel_read_elements_without_memory():
    number, nothing = taeda.ones(()), taeda.ones((), device="meta")
    with pytest.raises(RuntimeError, match="same device"):
        taeda._core.functions["nn"]["_l1_loss"](number, nothing, 1)
    assert (number + nothing).device.type == "meta"
    assert taeda.where(taeda.tensor(True), nothing, nothing).device.type == "meta"


def test_lists_of_results_are_tuples():
    """Of kernels and of composites alike."""
    x = taeda.arange(9.0).reshape(3, 3)
    results = (
        taeda.gradient(x),
        taeda.gradient(x, dim=0),
        x.split(1),
        x.tensor_split(2),
        x.unbind(),
        taeda.hsplit(x, 3),
    )
    assert {type(result) for result in results} == {tuple}


NUMBERS = [
    lambda here, there: here.add_(there),
    lambda here, there: here.mul_(there),
    lambda here, there: here.pow_(there),
    lambda here, there: here.lerp_(taeda.ones(()), there),
    lambda here, there: here.addcmul_(there, taeda.ones(())),
    lambda here, there: here.clamp_(there),
    lambda here, there: taeda._foreach_add_([here], [there]),
]


@pytest.mark.parametrize("write", NUMBERS)
def test_a_number_on_the_cpu_that_is_written_is_no_number(write):
    here = taeda.ones(())
    with pytest.raises(
        RuntimeError, match=r"found at least two devices, (meta and cpu|cpu and meta)"
    ):
        write(here, taeda.ones((), device="meta"))
    assert here.item() == 1
    there = taeda.ones((), device="meta")
    if write is not NUMBERS[-1]:
        write(there, here)  # a number of the cpu is welcome there
        assert there.is_meta


class Control:
    """Hears of calls of functions."""

    def __init__(self):
        self.heard = []

    def call(self, op, args, run):
        return run()

    def control(self, what, functions, tensors, below):
        self.heard.append(what)
        return below(functions, tensors)


class Deaf:
    def call(self, op, args, run):
        return run()


def test_calls_of_functions_go_from_the_inner_tracer_outwards():
    outer, deaf, inner = Control(), Deaf(), Control()
    for tracer in (outer, deaf, inner):
        tracers.push(tracer)
    try:
        made = _dispatch.call_control("cond", (), (), lambda: len(tracers.entered))
        assert tracers.entered == [outer, deaf, inner]
    finally:
        for tracer in (inner, deaf, outer):
            tracers.remove(tracer)
    assert made == 0 and outer.heard == inner.heard == ["cond"]
    assert _dispatch.call_control("cond", (), (), lambda: 3) == 3


def test_who_makes_a_program_of_operations_is_known():
    assert not is_recorded()

    class Sees:
        records_programs = True

    tracers.push(Sees())
    try:
        assert is_recorded()
        tracers.push(object())  # a profiler, say: it changes nothing
        assert is_recorded()
    finally:
        tracers.restore(0)
    tracers.push(object())
    try:
        assert not is_recorded()
    finally:
        tracers.restore(0)
