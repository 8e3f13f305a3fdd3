"""Functions that an optimizer calls around its steps, its saving and its loading."""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable
from itertools import chain
from types import MappingProxyType
from typing import Any, TypeAlias

from taeda.utils.hooks import RemovableHandle

__all__ = ["Hooked", "register_optimizer_step_post_hook", "register_optimizer_step_pre_hook"]

Hook: TypeAlias = Callable[..., Any]
Hooks: TypeAlias = "OrderedDict[int, Hook]"


_global_pre_hooks: Hooks = OrderedDict()
_global_post_hooks: Hooks = OrderedDict()

_NONE: Any = MappingProxyType({})

_HOOK_TABLES = (
    "_optimizer_step_pre_hooks",
    "_optimizer_step_post_hooks",
    "_optimizer_state_dict_pre_hooks",
    "_optimizer_state_dict_post_hooks",
    "_optimizer_load_state_dict_pre_hooks",
    "_optimizer_load_state_dict_post_hooks",
)


def _register(hooks: Hooks, hook: Hook, prepend: bool = False) -> RemovableHandle:
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


def register_optimizer_step_pre_hook(hook: Hook) -> RemovableHandle:
    """Call `hook(optimizer, args, kwargs)` before the step of every optimizer.

    It may return a pair `(args, kwargs)` that replaces the arguments.
    """
    return _register(_global_pre_hooks, hook)


def register_optimizer_step_post_hook(hook: Hook) -> RemovableHandle:
    """Call `hook(optimizer, args, kwargs)` after the step of every optimizer."""
    return _register(_global_post_hooks, hook)


def _with_hooks(step: Callable[..., Any]) -> Callable[..., Any]:
    """`step`, with the step hooks around it; inside such a step a further one runs plainly."""

    @functools.wraps(step)
    def hooked(self: Hooked, *args: Any, **kwargs: Any) -> Any:
        pre, post = self._optimizer_step_pre_hooks, self._optimizer_step_post_hooks
        if not (pre or post or _global_pre_hooks or _global_post_hooks) or self._in_hooked_step:
            return step(self, *args, **kwargs)
        self._in_hooked_step = True
        try:
            return _run_hooked(self, step, args, kwargs)
        finally:
            del self._in_hooked_step

    hooked.hooked = True  # type: ignore[attr-defined]
    return hooked


def _run_hooked(
    optimizer: Hooked, step: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    given: tuple[Any, ...] = (optimizer, *args)
    for hook in chain(_global_pre_hooks.values(), optimizer._optimizer_step_pre_hooks.values()):
        result = hook(optimizer, given, kwargs)
        if result is None:
            continue
        if not (isinstance(result, tuple) and len(result) == 2):
            raise RuntimeError(
                f"{step} must return None or a tuple of (new_args, new_kwargs), but got {result}: "
                f"that is what the step pre-hook {hook} returned"
            )
        given, kwargs = result
    value = step(*given, **kwargs)
    for hook in chain(optimizer._optimizer_step_post_hooks.values(), _global_post_hooks.values()):
        hook(optimizer, given, kwargs)
    return value


def _hook_step(cls: Any, step: Callable[..., Any]) -> None:
    if not getattr(step, "hooked", False):
        cls.step = _with_hooks(step)


class Hooked:
    """The hooks of one optimizer; `step` of every subclass runs between those of steps."""

    OptimizerPreHook: TypeAlias = Hook
    OptimizerPostHook: TypeAlias = Hook

    _in_hooked_step = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        step = cls.__dict__.get("step")
        if step is not None:
            _hook_step(cls, step)

    def _patch_step_function(self) -> None:
        """What `__init__` prepares for steps, for a wrapper that never calls it: tables of hooks,
        and a step that runs between them, also if the class got it after its definition.
        """
        kind: Any = type(self)
        _hook_step(kind, kind.step)
        self._make_hook_tables()

    def _make_hook_tables(self) -> None:
        """Empty ones, where there are none."""
        for name in _HOOK_TABLES:
            self.__dict__.setdefault(name, OrderedDict())

    # a wrapper that hands everything to another optimizer may never call __init__
    _optimizer_step_pre_hooks: Hooks = _NONE
    _optimizer_step_post_hooks: Hooks = _NONE
    _optimizer_state_dict_pre_hooks: Hooks
    _optimizer_state_dict_post_hooks: Hooks
    _optimizer_load_state_dict_pre_hooks: Hooks
    _optimizer_load_state_dict_post_hooks: Hooks

    def register_step_pre_hook(self, hook: Hook) -> RemovableHandle:
        """Call `hook(optimizer, args, kwargs)` before each step; it may return new arguments."""
        return _register(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Hook) -> RemovableHandle:
        """Call `hook(optimizer, args, kwargs)` after each step."""
        return _register(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Call `hook(optimizer)` before `state_dict` looks at anything."""
        return _register(self._optimizer_state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Call `hook(optimizer, state_dict)`; what it returns, unless None, replaces the dict."""
        return _register(self._optimizer_state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(
        self, hook: Hook, prepend: bool = False
    ) -> RemovableHandle:
        """Call `hook(optimizer, state_dict)` before loading; a returned dict is loaded instead."""
        return _register(self._optimizer_load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(
        self, hook: Hook, prepend: bool = False
    ) -> RemovableHandle:
        """Call `hook(optimizer)` after `load_state_dict`."""
        return _register(self._optimizer_load_state_dict_post_hooks, hook, prepend)
