"""Hooks that apply to every module of the process."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.nn.modules import module as registry


def test_global_registration_hooks(handles):
    seen = []
    handles += [
        registry.register_module_parameter_registration_hook(lambda m, n, p: seen.append(n)),
        registry.register_module_buffer_registration_hook(lambda m, n, b: b * 2),
        registry.register_module_module_registration_hook(lambda m, n, c: nn.Tanh()),
    ]
    net = nn.Module()
    net.weight = nn.Parameter(taeda.ones(1))
    net.register_buffer("total", taeda.ones(1))
    net.child = nn.ReLU()
    assert seen == ["weight"]
    assert net.total.item() == 2
    assert isinstance(net.child, nn.Tanh)


def test_calls_of_every_module_pass_by(handles):
    seen = []
    handles += [
        registry.register_module_forward_pre_hook(lambda m, args: (args[0] * 2,)),
        registry.register_module_forward_hook(
            lambda m, args, out: seen.append((type(m).__name__, out.item()))
        ),
    ]
    assert nn.Sequential(nn.Identity())(taeda.ones(1)).item() == 4
    assert seen == [("Identity", 4.0), ("Sequential", 4.0)]


def test_keywords_are_shown_to_those_who_ask(handles):
    class Scaled(nn.Module):
        def forward(self, x, *, by):
            return x * by

    handles.append(
        registry.register_module_forward_hook(
            lambda m, args, named, out: out + named["by"], with_kwargs=True
        )
    )
    assert Scaled()(taeda.ones(1), by=3).item() == 6


def test_whether_a_call_must_look_is_known(handles):
    from taeda.nn.modules import _global_hooks

    told = []
    _global_hooks.watch_call_hooks(lambda: told.append(_global_hooks.any_call_hook()))
    try:
        handle = registry.register_module_forward_hook(lambda m, args, out: None)
        assert told == [True]
        handle.remove()
        _global_hooks.settle()
        assert told[-1] is False
        handles.append(registry.register_module_buffer_registration_hook(lambda m, n, b: None))
        assert told[-1] is False and not _global_hooks.any_call_hook()
    finally:
        _global_hooks._watchers.pop()


def test_both_kinds_of_backward_hooks_exclude_each_other(handles):
    handles.append(registry.register_module_full_backward_hook(lambda m, gi, go: None))
    with pytest.raises(RuntimeError, match="both regular backward hooks and full backward hooks"):
        registry.register_module_backward_hook(lambda m, gi, go: None)
    handles.pop().remove()
    handles.append(registry.register_module_backward_hook(lambda m, gi, go: None))
