"""Kernels by device, and rules of operators: who is asked for a call."""

from __future__ import annotations

from typing import Any

import pytest

import taeda
from taeda import Tensor, library
from taeda.overrides import TorchFunctionMode
from taeda.utils.op_trace import trace_ops

Library, custom_op = library.Library, library.custom_op


@pytest.fixture
def double():
    @custom_op("tlib::double", mutates_args=())
    def double(x: Tensor, times: float = 2.0) -> Tensor:
        """Twice x, or as often."""
        return x * times

    return double


def test_kernels_by_device(double):
    double.register_kernel("cpu", lambda x, times: x * times + 100)
    assert double(taeda.ones(1)).item() == 102
    with double.set_kernel_enabled("cpu", enabled=False):
        assert double(taeda.ones(1)).item() == 2
    assert double(taeda.ones(1)).item() == 102
    double.register_kernel(None)(lambda x, times: x * 0)
    with double.set_kernel_enabled("cpu", enabled=False):
        assert double(taeda.ones(1)).item() == 0
    with pytest.raises(RuntimeError, match="foo"):
        double.register_kernel("foo", lambda x: x)


def test_an_op_for_another_device_only():
    @custom_op("tlib::gpu", mutates_args=(), device_types="cuda")
    def gpu(x: Tensor) -> Tensor:
        return x.clone()

    with pytest.raises(NotImplementedError, match="no kernel is registered for device 'cpu'"):
        gpu(taeda.ones(1))


def test_a_factory_needs_a_device():
    with pytest.raises(ValueError, match=r"device: taeda\.device"):
        _factory()

    @custom_op("tlib::make", mutates_args=(), device_types="cpu")
    def make(device: taeda.device) -> Tensor:
        return taeda.ones(3)

    assert make("cpu").shape == (3,)


def _factory():
    @custom_op("tlib::make", mutates_args=(), device_types="cpu")
    def make() -> Tensor:
        return taeda.ones(3)


class Tagged(Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        calls.append(func)
        return super().__torch_function__(func, types, args, kwargs)


calls: list[Any] = []


def test_subclasses_see_the_call(double):
    x = taeda.ones(1).as_subclass(Tagged)
    calls.clear()
    assert type(double(x)) is Tagged
    assert calls == [taeda.ops.tlib.double.default]
    taeda.ops.tlib.double(x)
    assert calls[1:] == [taeda.ops.tlib.double]


def test_modes_see_the_call(double):
    class Log(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            log.append(func)
            return func(*args, **(kwargs or {}))

    log: list[Any] = []
    x = taeda.ones(1)
    with Log():
        double(x)
    assert log == [taeda.ops.tlib.double.default]


def test_tracing_sees_one_opaque_call(double):
    x = taeda.ones(2)
    with trace_ops() as trace:
        double(x)
        taeda.ops.aten.split(x, 1)
    assert [call.op for call in trace.calls][:1] == ["tlib::double"]
    assert len(trace.calls) == 2


def test_rules_wait_for_their_operator():
    library.impl("tl3::f", "cpu", lambda x: x * 3)
    library.register_fake("tl3::f", lambda x: taeda.empty_like(x))
    with pytest.raises(RuntimeError, match="has a fake impl already"):
        library.register_fake("tl3::f", lambda x: x)
    library.define("tl3::f", "(Tensor x) -> Tensor")
    assert taeda.ops.tl3.f(taeda.ones(1)).item() == 3
    assert taeda.ops.tl3.f(taeda.ones(1, device="meta")).is_meta
    with pytest.raises(RuntimeError, match="multiple times"):
        library.define("tl3::f", "(Tensor x) -> Tensor")
    with pytest.raises(ValueError, match="to look like"):
        library.define("tl3::g", "g(Tensor x) -> Tensor")
