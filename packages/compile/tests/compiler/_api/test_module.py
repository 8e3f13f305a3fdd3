"""A compiled module has the state of its original."""

from __future__ import annotations

import copy
import gc
import sys
import weakref

import pytest

import taeda
from taeda import compiler, nn


def model():
    taeda.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Dropout(0.5), nn.Linear(4, 2))


def test_a_module_shares_its_state_under_a_prefix():
    net = model()
    made = taeda.compile(net, dynamic=True, mode="max-autotune")
    assert list(made.state_dict()) == [f"_orig_mod.{name}" for name in net.state_dict()]
    assert made._orig_mod is net
    assert made[0] is net[0] if hasattr(type(made), "__getitem__") else True
    made.eval()
    assert not net.training
    assert not net[1].training
    made.note = 3
    assert net.note == 3
    assert made.note == 3
    del made.note
    assert not hasattr(net, "note")
    assert compiler.disable(made) is net
    other = copy.deepcopy(made)
    assert other._orig_mod is not net
    x = taeda.randn(2, 3)
    assert other(x).equal(net(x))
    with pytest.raises(AttributeError, match="nothing"):
        made.nothing


def test_a_module_that_stays_as_it_is_goes_to_the_original_at_once():
    first, second = nn.Linear(2, 2), nn.Linear(2, 2)
    compiled, x = taeda.compile(first), taeda.ones(1, 2)
    compiled._compiled.off = True
    assert compiled.__dict__["forward"] is first and compiled(x).equal(first(x))
    assert copy.deepcopy(compiled)(x).equal(first(x))
    compiled._orig_mod = second
    assert compiled(x).equal(second(x))
    compiled._compiled.off = False
    assert "forward" not in compiled.__dict__


def _closed(original):
    compiled = taeda.compile(original)
    compiled._compiled.off = True
    return compiled


def test_calls_at_once_have_no_frame_of_their_own():
    class Depth(nn.Module):
        def forward(self):
            frame, names = sys._getframe(1), []
            while frame is not None:
                names.append(frame.f_code.co_name)
                frame = frame.f_back
            return names

    compiled = _closed(Depth())
    assert compiled()[:2] == ["__call__", "test_calls_at_once_have_no_frame_of_their_own"]
    assert isinstance(compiled, compiler.OptimizedModule) and type(compiled).__name__ == (
        "OptimizedModule"
    )
    assert "OptimizedModule" in repr(compiled) and compiled.forward()


def test_hooks_of_the_compiled_module_run_although_calls_went_at_once():
    x, original = taeda.ones(1, 2), nn.Linear(2, 2)
    expected = original(x)
    compiled = _closed(original)
    assert compiled(x).equal(expected)
    outer = compiled.register_forward_hook(lambda module, args, result: result * 2)
    assert compiled(x).equal(expected * 2)
    inner = original.register_forward_hook(lambda module, args, result: result + 1)
    assert compiled(x).equal((expected + 1) * 2)
    outer.remove()
    inner.remove()
    assert compiled(x).equal(expected)
    compiled._compiled.off = False
    compiled._compiled.off = True
    assert compiled(x).equal(expected)


def test_global_hooks_see_both_modules():
    x, original = taeda.ones(1, 2), nn.Linear(2, 2)
    compiled, seen = _closed(original), []
    compiled(x)
    handle = nn.modules.module.register_module_forward_hook(lambda module, *_: seen.append(module))
    compiled(x)
    later = _closed(original)
    later(x)
    handle.remove()
    compiled(x)
    assert [m is original for m in seen] == [True, False, True, False]
    assert seen[1] is compiled and seen[3] is later


def test_an_original_is_freed_with_its_compiled_module():
    original = nn.Linear(2, 2)
    gone = weakref.ref(original.weight)
    compiled = _closed(original)
    compiled(taeda.ones(1, 2))
    enabled = gc.isenabled()
    gc.disable()
    try:
        compiled._compiled.reset()
        compiled._compiled.off = True
        del original, compiled
        assert gone() is None
    finally:
        if enabled:
            gc.enable()


def test_a_changed_forward_is_called():
    original = nn.Linear(2, 2)
    compiled = _closed(original)
    original.forward = lambda x: x * 3
    assert compiled(taeda.ones(2)).tolist() == [3, 3]


def test_another_class_is_the_wrappers_and_not_the_originals():
    original = nn.Linear(2, 2)
    compiled = taeda.compile(original)
    kind = type("Named", (type(compiled),), {"more": lambda self: 3})
    compiled.__class__ = kind
    assert type(compiled) is kind and type(original) is nn.Linear and compiled.more() == 3
    assert taeda.equal(compiled(taeda.ones(2)), original(taeda.ones(2)))
