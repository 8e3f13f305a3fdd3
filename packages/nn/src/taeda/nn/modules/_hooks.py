"""Hooks on one module, and the way a call takes when there are any.

The tables of hooks are made when somebody first asks for them; `_hooked` is true from then on, and it
is all that a call without hooks looks at. Global hooks set it on the class.
"""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

from taeda import Tensor
from taeda._core_api import warn
from taeda.utils.hooks import RemovableHandle

from . import _global_hooks
from ._backward_hooks import BackwardHooks
from ._members import CALL_HOOKS, HookTable
from ._registration import Registration

__all__ = ["Hooks", "call_as_written", "has_hooks", "run_hooked"]

Hook = Callable[..., Any]


class _Table:
    """A table of hooks as an attribute of the class: a module's own, made when it is first read.

    Python finds it before it asks `__getattr__`, so a module that forwards names it does not know to
    another one keeps hooks of its own.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, module: Any, owner: type | None = None) -> HookTable:
        if module is None:
            raise AttributeError(f"{owner!r} has no {self.name}: each module has its own")
        if self.name in CALL_HOOKS:
            module._taeda_expect_hooks()
        table = module.__dict__[self.name] = HookTable()
        return table


class Hooks(Registration):
    """The part of Module that holds hooks on forward and backward."""

    _hooked = False
    _is_full_backward_hook: bool | None = None

    _forward_pre_hooks = _Table()
    _forward_pre_hooks_with_kwargs = _Table()
    _forward_hooks = _Table()
    _forward_hooks_with_kwargs = _Table()
    _forward_hooks_always_called = _Table()
    _backward_pre_hooks = _Table()
    _backward_hooks = _Table()
    _state_dict_hooks = _Table()
    _state_dict_pre_hooks = _Table()
    _load_state_dict_pre_hooks = _Table()
    _load_state_dict_post_hooks = _Table()

    def _taeda_expect_hooks(self) -> None:
        """Calls look for hooks from now on."""
        self.__dict__["_hooked"] = True

    def _taeda_add_hook(
        self, table: OrderedDict[int, Hook], hook: Hook, *extra: Any, prepend: bool = False
    ) -> RemovableHandle:
        handle = RemovableHandle(table, extra_dict=extra)
        table[handle.id] = hook
        for flags in extra:
            flags[handle.id] = True
        if prepend:
            table.move_to_end(handle.id, last=False)
        return handle

    def register_forward_pre_hook(
        self, hook: Hook, *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Run `hook(module, args)` before forward.

        What it returns replaces the positional arguments. `with_kwargs` passes the keyword arguments
        as well, and a result is then a pair of both. `prepend` puts it before the hooks there are.
        """
        extra = [self._forward_pre_hooks_with_kwargs] if with_kwargs else []
        return self._taeda_add_hook(self._forward_pre_hooks, hook, *extra, prepend=prepend)

    def register_forward_hook(
        self,
        hook: Hook,
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:
        """Run `hook(module, args, output)` after forward; what it returns replaces the output.

        `with_kwargs` passes the keyword arguments before the output. `always_call` runs the hook even
        if forward raises, with None for the output.
        """
        extra = [self._forward_hooks_with_kwargs] if with_kwargs else []
        if always_call:
            extra.append(self._forward_hooks_always_called)
        return self._taeda_add_hook(self._forward_hooks, hook, *extra, prepend=prepend)

    def register_full_backward_pre_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Run `hook(module, grad_output)` before the backward of this module.

        A tuple it returns replaces the gradients of the outputs.
        """
        return self._taeda_add_hook(self._backward_pre_hooks, hook, prepend=prepend)

    def register_full_backward_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Run `hook(module, grad_input, grad_output)` once the gradients of the inputs are known.

        A tuple it returns replaces the gradients of the inputs. Both tuples have None where an
        argument is no tensor.
        """
        self._taeda_choose_backward(full=True)
        return self._taeda_add_hook(self._backward_hooks, hook, prepend=prepend)

    def register_backward_hook(self, hook: Hook) -> RemovableHandle:
        """Run a hook on the operation that made the output. Prefer `register_full_backward_hook`."""
        self._taeda_choose_backward(full=False)
        return self._taeda_add_hook(self._backward_hooks, hook)

    def _taeda_choose_backward(self, *, full: bool) -> None:
        if self._is_full_backward_hook is (not full):
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward hooks on a single Module. "
                "Please use only one of them."
            )
        self._is_full_backward_hook = full


# ---- a call with hooks ----


def has_hooks(module: Any) -> bool:
    """Whether a call of the module runs hooks, its own or global ones."""
    return _global_hooks.any_call_hook() or any(
        name in CALL_HOOKS and value for name, value in module.__dict__.items()
    )


def run_hooked(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What `Module.compile` made, or the hooks around forward."""
    compiled = module._compiled_call_impl
    if compiled is not None:
        return compiled(*args, **kwargs)
    return run_as_written(module, args, kwargs)


def run_as_written(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Global and own pre hooks, forward, global and own hooks, with the backward hooks around."""
    around = _global_hooks.any_call_hook()
    if not around and CALL_HOOKS.isdisjoint(module.__dict__):
        if "_hooked" not in module.__dict__:
            _global_hooks.settle()
        return module.forward(*args, **kwargs)
    call = _Call(module, args, kwargs)
    try:
        return call.run()
    except Exception:
        call.run_remaining()
        raise


def call_as_written(module: Any, *args: Any, **kwargs: Any) -> Any:
    """The same in the form of a call."""
    return run_as_written(module, args, kwargs)


class _Call:
    """One call of a module with hooks; remembers which of those that must always run have run."""

    def __init__(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.module, self.args, self.kwargs = module, args, kwargs
        self.result: Any = None
        self.done: set[int] = set()

    def run(self) -> Any:
        module = self.module
        self._run_pre_hooks()
        around = self._backward_hooks(full=True)
        if around is not None:
            self.args = around.enter(self.args)
        self.result = module.forward(*self.args, **self.kwargs)
        for identity, hook in self._forward_hooks():
            self.done.add(identity)
            changed = hook()
            self.result = self.result if changed is None else changed
        if around is not None:
            self.result = around.leave(self.result)
        self._attach_legacy_hooks()
        return self.result

    def _run_pre_hooks(self) -> None:
        for hook in list(_global_hooks.forward_pre.values()):
            self._take_args(hook(self.module, self.args))
        own = self.module.__dict__
        with_kwargs = own.get("_forward_pre_hooks_with_kwargs", ())
        for identity, hook in list(own.get("_forward_pre_hooks", {}).items()):
            if identity in with_kwargs:
                self._take_args_and_kwargs(hook(self.module, self.args, self.kwargs))
            else:
                self._take_args(hook(self.module, self.args))

    def _take_args(self, changed: Any) -> None:
        if changed is not None:
            self.args = changed if isinstance(changed, tuple) else (changed,)

    def _take_args_and_kwargs(self, changed: Any) -> None:
        if changed is None:
            return
        if not (isinstance(changed, tuple) and len(changed) == 2):
            raise RuntimeError(
                f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {changed}."
            )
        self.args, self.kwargs = changed

    def _forward_hooks(self) -> Iterator[tuple[int, Callable[[], Any]]]:
        """(identity, call) of the forward hooks, global ones first."""
        own = self.module.__dict__
        tables = (
            (_global_hooks.forward, _global_hooks.forward_with_kwargs),
            (own.get("_forward_hooks", {}), own.get("_forward_hooks_with_kwargs", ())),
        )
        for hooks, with_kwargs in tables:
            for identity, hook in list(hooks.items()):
                yield identity, functools.partial(self._call_hook, hook, identity in with_kwargs)

    def _call_hook(self, hook: Hook, with_kwargs: bool) -> Any:
        given = (self.args, self.kwargs) if with_kwargs else (self.args,)
        return hook(self.module, *given, self.result)

    def run_remaining(self) -> None:
        """After an error: the hooks that always run and have not; an error of theirs is only a warning."""
        own = self.module.__dict__.get("_forward_hooks_always_called", ())
        for identity, hook in self._forward_hooks():
            if identity in self.done or not (
                identity in own or identity in _global_hooks.forward_always
            ):
                continue
            try:
                changed = hook()
                self.result = self.result if changed is None else changed
            except Exception as error:  # noqa: BLE001 - the first error is the one to report
                warn(
                    f"forward hook with `always_call=True` raised {error!r}, which was silenced "
                    "because another error was raised already",
                )

    # ---- backward ----

    def _backward_hooks(self, *, full: bool) -> BackwardHooks | None:
        module, own = self.module, self.module.__dict__
        pre = [*_global_hooks.backward_pre.values(), *own.get("_backward_pre_hooks", {}).values()]
        hooks = self._hooks_of_kind(full)
        return BackwardHooks(module, hooks, pre) if hooks or pre else None

    def _hooks_of_kind(self, full: bool) -> list[Hook]:
        hooks: list[Hook] = []
        if _global_hooks.backward_is_full is full:
            hooks += _global_hooks.backward.values()
        if self.module._is_full_backward_hook is full:
            hooks += self.module.__dict__.get("_backward_hooks", {}).values()
        return hooks

    def _attach_legacy_hooks(self) -> None:
        hooks = self._hooks_of_kind(False)
        if not hooks:
            return
        output = _first_tensor(self.result)
        if output is not None and output.grad_fn is not None:
            if not isinstance(self.result, Tensor):
                warn(
                    "a backward hook that is not full sees only the gradients of the first output's "
                    "operation; use register_full_backward_hook",
                    FutureWarning,
                )
            for hook in hooks:
                output.grad_fn.register_hook(functools.partial(hook, self.module))


def _first_tensor(result: Any) -> Tensor | None:
    while not isinstance(result, Tensor):
        if isinstance(result, dict):
            result = next((v for v in result.values() if isinstance(v, Tensor)), None)
        elif isinstance(result, (tuple, list)) and result:
            result = result[0]
        else:
            return None
    return result
