"""Functions that are replaced while one traces, and put back."""

from __future__ import annotations

import math
import threading

import pytest

import taeda
import taeda.nn.functional as F
from taeda import fx, nn
from taeda.nn.functional import interpolate


def test_nothing_stays_replaced_after_a_refusal():
    call, arange, ours = nn.Module.__call__, taeda.arange, interpolate
    with pytest.raises(fx.proxy.TraceError):
        fx.symbolic_trace(lambda x: x if x.sum() > 0 else -x)
    assert (nn.Module.__call__, taeda.arange, globals()["interpolate"]) == (call, arange, ours)
    assert F.interpolate is interpolate
    assert not hasattr(math.sqrt, "_fx_original")


def test_threads_trace_beside_each_other():
    model = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
    call, wrong = nn.Module.__call__, []

    def work():
        for _ in range(20):
            x = taeda.ones(2, 3)
            if not fx.symbolic_trace(model)(x).equal(model(x)):
                wrong.append(x)

    threads = [threading.Thread(target=work) for _ in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not wrong
    assert nn.Module.__call__ is call


def test_wrap_is_for_module_scope():
    with pytest.raises(NotImplementedError, match="top level of a module"):
        fx.wrap("len")
    with pytest.raises(RuntimeError, match="callable or string name"):
        fx.wrap(3)
