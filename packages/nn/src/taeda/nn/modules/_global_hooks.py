"""Hooks that apply to every module of the process. Meant for debugging and profiling."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from taeda.utils.hooks import RemovableHandle

from ._members import HookTable

__all__ = [
    "register_module_backward_hook",
    "register_module_buffer_registration_hook",
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
    "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
    "register_module_module_registration_hook",
    "register_module_parameter_registration_hook",
]

Hook = Callable[..., Any]

forward_pre = HookTable()
forward = HookTable()
forward_with_kwargs = HookTable()
forward_always = HookTable()
backward_pre = HookTable()
backward = HookTable()
parameter_registration = HookTable()
buffer_registration = HookTable()
module_registration = HookTable()

backward_is_full: bool | None = None  # None: no backward hook yet

_CALLS = (forward_pre, forward, backward_pre, backward)
_watchers: list[Callable[[], None]] = []


def any_call_hook() -> bool:
    """Is there a global hook that a call of a module must run?"""
    return any(_CALLS)


def watch_call_hooks(watcher: Callable[[], None]) -> None:
    """Call `watcher` whenever the answer of `any_call_hook` may have changed."""
    _watchers.append(watcher)


def settle() -> None:
    """Let the watchers look again; the last hook was removed, which nobody is told of."""
    for watcher in _watchers:
        watcher()


def _add(table: HookTable, hook: Hook, *extra: HookTable) -> RemovableHandle:
    handle = RemovableHandle(table, extra_dict=extra)
    table[handle.id] = hook
    for flags in extra:
        flags[handle.id] = True
    if any(table is calls for calls in _CALLS):
        settle()
    return handle


def register_module_forward_pre_hook(hook: Hook) -> RemovableHandle:
    """Run `hook(module, args)` before every forward; what it returns replaces the arguments."""
    return _add(forward_pre, hook)


def register_module_forward_hook(
    hook: Hook, *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Run `hook(module, args, output)` after every forward; what it returns replaces the output.

    `with_kwargs` adds the keyword arguments before the output; `always_call` runs it even if forward
    raises, with None for the output.
    """
    extra = [forward_with_kwargs] * with_kwargs + [forward_always] * always_call
    return _add(forward, hook, *extra)


def register_module_full_backward_pre_hook(hook: Hook) -> RemovableHandle:
    """Run `hook(module, grad_output)` before the gradients of every module's inputs are computed."""
    return _add(backward_pre, hook)


def register_module_full_backward_hook(hook: Hook) -> RemovableHandle:
    """Run `hook(module, grad_input, grad_output)` once the gradients of a module's inputs are known."""
    return _add_backward(hook, full=True)


def register_module_backward_hook(hook: Hook) -> RemovableHandle:
    """Run a hook on the last operation of every module. Prefer `register_module_full_backward_hook`."""
    return _add_backward(hook, full=False)


def _add_backward(hook: Hook, *, full: bool) -> RemovableHandle:
    global backward_is_full
    if backward and backward_is_full is not full:
        raise RuntimeError(
            "Cannot use both regular backward hooks and full backward hooks as global Module hooks. "
            "Please use only one of them."
        )
    backward_is_full = full
    return _add(backward, hook)


def register_module_parameter_registration_hook(hook: Hook) -> RemovableHandle:
    """Run `hook(module, name, param)` whenever a parameter is registered; what it returns is used instead."""
    return _add(parameter_registration, hook)


def register_module_buffer_registration_hook(hook: Hook) -> RemovableHandle:
    """Run `hook(module, name, buffer)` whenever a buffer is registered; what it returns is used instead."""
    return _add(buffer_registration, hook)


def register_module_module_registration_hook(hook: Hook) -> RemovableHandle:
    """Run `hook(module, name, child)` whenever a child is registered; what it returns is used instead."""
    return _add(module_registration, hook)
