"""The base of every optimizer: parameter groups, state, hooks, saving and loading. Knows no formula."""

from __future__ import annotations

import functools
import warnings
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable, Iterable
from copy import deepcopy
from itertools import chain
from typing import Any, TypeAlias, cast

import taeda
from taeda import Tensor
from taeda.utils.hooks import RemovableHandle

__all__ = [
    "Optimizer",
    "ParamsT",
    "StateDict",
    "register_optimizer_step_post_hook",
    "register_optimizer_step_pre_hook",
    "required",
]

ParamsT: TypeAlias = Iterable[Tensor] | Iterable[dict[str, Any]] | Iterable[tuple[str, Tensor]]
StateDict: TypeAlias = dict[str, Any]
Group: TypeAlias = dict[str, Any]
Hook: TypeAlias = Callable[..., Any]
Hooks: TypeAlias = "OrderedDict[int, Hook]"


class _Required:
    """Marks an option that every group must give; see `required`."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()

_global_pre_hooks: Hooks = OrderedDict()
_global_post_hooks: Hooks = OrderedDict()

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
    def hooked(self: Optimizer, *args: Any, **kwargs: Any) -> Any:
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
    optimizer: Optimizer, step: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
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


class Optimizer:
    """Holds parameters in groups, each with its options, and the state of every parameter.

    `params` is an iterable of tensors, of `(name, tensor)` pairs, or of dicts with the key
    "params" and options of their own; `defaults` are the options of groups that do not say. A
    subclass defines `step`, which may take a closure that evaluates the loss again.
    """

    OptimizerPreHook: TypeAlias = Hook
    OptimizerPostHook: TypeAlias = Hook

    _in_hooked_step = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        step = cls.__dict__.get("step")
        if step is not None and not getattr(step, "hooked", False):
            cls.step = _with_hooks(step)  # type: ignore[method-assign]

    def __init__(self, params: ParamsT, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        self._make_hook_tables()
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or "
                f"dicts, but got {params.type()}: put the tensor into a list"
            )
        self.state: defaultdict[Tensor, Any] = defaultdict(dict)
        self.param_groups: list[Group] = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(cast(Group, group))

    def _make_hook_tables(self) -> None:
        for name in _HOOK_TABLES:
            setattr(self, name, OrderedDict())

    _optimizer_step_pre_hooks: Hooks
    _optimizer_step_post_hooks: Hooks
    _optimizer_state_dict_pre_hooks: Hooks
    _optimizer_state_dict_post_hooks: Hooks
    _optimizer_load_state_dict_pre_hooks: Hooks
    _optimizer_load_state_dict_post_hooks: Hooks

    # ---- copying and printing ----

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for name in _HOOK_TABLES:  # hooks are not saved with the rest
            self.__dict__.setdefault(name, OrderedDict())
        self.defaults.setdefault("differentiable", False)

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for i, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {i}")
            lines += [f"    {key}: {group[key]}" for key in sorted(group) if key != "params"]
        return "\n".join([*lines, ")"])

    # ---- groups ----

    def add_param_group(self, param_group: Group) -> None:
        """Add a group: a dict with "params" and the options in which it differs from the defaults.

        Refuses sets, tensors that have a history (only leaves can be stepped), parameters that
        another group holds already, and names for some parameters but not for others.
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params, names = _split_names(_as_list(param_group["params"]))
        for param in params:
            self._check_param(param)
        self._check_names(names)
        for name, value in self.defaults.items():
            if value is required and name not in param_group:
                raise ValueError(
                    f"parameter group didn't specify a value of required optimization "
                    f"parameter {name}"
                )
        self._check_disjoint(params)
        param_group["params"] = params
        if names:
            param_group["param_names"] = names
        for name, value in self.defaults.items():
            param_group.setdefault(name, value)
        self.param_groups.append(param_group)

    def _check_param(self, param: Any) -> None:
        if not isinstance(param, Tensor):
            raise TypeError(
                "optimizer can only optimize Tensors, but one of the params is "
                + type(param).__name__
            )
        if self.defaults.get("differentiable"):
            return
        if not (param.is_leaf or param.retains_grad):
            raise ValueError(
                f"can't optimize a non-leaf Tensor: one of shape {tuple(param.shape)} was computed "
                "from others; give the leaves it was computed from, or detach it"
            )

    def _check_names(self, names: list[str]) -> None:
        if not self.param_groups:
            return
        named = "param_names" in self.param_groups[0]
        if named != bool(names):
            have = "without" if named else "with"
            raise ValueError(
                "all optimizer param groups should be with/without names. cannot add param group "
                f"{have} names to the optimizer"
            )

    def _check_disjoint(self, params: list[Tensor]) -> None:
        ids = {id(p) for p in params}
        if len(ids) != len(params):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; each of them "
                "is stepped once for every time it is listed",
                stacklevel=3,
            )
        for group in self.param_groups:
            if not ids.isdisjoint(map(id, group["params"])):
                raise ValueError("some parameters appear in more than one parameter group")

    # ---- gradients and steps ----

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters, or with `set_to_none=False` fill them with 0."""
        for group in self.param_groups:
            if set_to_none:
                for param in group["params"]:
                    param.grad = None
                continue
            for param in group["params"]:
                if param.grad is not None:
                    _clear(param.grad)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update the parameters once, and return what `closure` returned. For subclasses."""
        raise NotImplementedError(f"{type(self).__name__} defines no step()")

    # ---- hooks ----

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

    # ---- saving and loading ----

    def state_dict(self) -> StateDict:
        """Everything a fresh optimizer needs to go on: {"state": ..., "param_groups": ...}.

        Parameters are named by their position, counted through all groups. Tensors are shared
        with the optimizer, not copied.
        """
        for hook in self._optimizer_state_dict_pre_hooks.values():
            hook(self)
        position: dict[int, int] = {}
        groups, start = [], 0
        for group in self.param_groups:
            for i, param in enumerate(group["params"], start):
                position.setdefault(id(param), i)
            packed = {key: value for key, value in group.items() if key != "params"}
            packed["params"] = [position[id(p)] for p in group["params"]]
            groups.append(packed)
            start += len(group["params"])
        state: dict[Any, Any] = {
            position[id(k)] if isinstance(k, Tensor) else k: v for k, v in self.state.items()
        }
        result: StateDict = {"state": state, "param_groups": groups}
        for hook in self._optimizer_state_dict_post_hooks.values():
            replaced = hook(self, result)
            if replaced is not None:
                result = replaced
        return result

    def load_state_dict(self, state_dict: StateDict) -> None:
        """Take over a state that `state_dict` gave, for the same number of groups and parameters.

        State tensors are brought to the dtype and device of their parameter, "step" excepted.
        """
        state_dict = dict(state_dict)
        for hook in self._optimizer_load_state_dict_pre_hooks.values():
            replaced = hook(self, state_dict)
            if replaced is not None:
                state_dict = replaced
        saved = deepcopy(state_dict["param_groups"])
        self._check_matches(saved)
        owner = dict(
            zip(
                chain.from_iterable(g["params"] for g in saved),
                chain.from_iterable(g["params"] for g in self.param_groups),
                strict=True,
            )
        )
        state: defaultdict[Any, Any] = defaultdict(dict)
        for key, value in state_dict["state"].items():
            if key in owner:
                state[owner[key]] = self._cast_state(owner[key], key, value, saved)
            else:
                state[key] = value
        groups = [
            _taking_params_of(new, own) for new, own in zip(saved, self.param_groups, strict=True)
        ]
        self.__setstate__({"state": state, "param_groups": groups})
        for hook in self._optimizer_load_state_dict_post_hooks.values():
            hook(self)

    def _check_matches(self, saved: list[Group]) -> None:
        if len(saved) != len(self.param_groups):
            raise ValueError(
                "loaded state dict has a different number of parameter groups: "
                f"{len(saved)}, and the optimizer has {len(self.param_groups)}"
            )
        for i, (theirs, own) in enumerate(zip(saved, self.param_groups, strict=True)):
            if len(theirs["params"]) != len(own["params"]):
                raise ValueError(
                    "loaded state dict contains a parameter group that doesn't match the size of "
                    f"optimizer's group: group {i} has {len(theirs['params'])} parameters there, "
                    f"{len(own['params'])} here"
                )

    def _cast_state(
        self, param: Tensor, position: Hashable, value: Any, groups: list[Group], key: Any = None
    ) -> Any:
        """`value`, found under `key` in the state of `param`, on the parameter's dtype and device."""
        again = functools.partial(self._cast_state, param, position)
        if isinstance(value, Tensor):
            if key == "step":
                return _cast_step(param, position, value, groups)
            if param.is_floating_point():
                return value.to(dtype=param.dtype, device=param.device)
            return value.to(device=param.device)
        if isinstance(value, dict):
            return {k: again(v, groups, k) for k, v in value.items()}
        if isinstance(value, (list, tuple, set)):
            return type(value)(again(v, groups) for v in value)
        return value


def _as_list(params: Any) -> list[Any]:
    if isinstance(params, Tensor):
        return [params]
    if isinstance(params, (set, frozenset)):
        raise TypeError(
            "optimizer parameters need to be organized in ordered collections, but the ordering "
            "of tensors in sets will change between runs. Please use a list instead."
        )
    return list(params)


def _split_names(params: list[Any]) -> tuple[list[Any], list[str]]:
    """Parameters and names of a list of either tensors or (name, tensor) pairs."""
    named = [isinstance(p, tuple) for p in params]
    if not any(named):
        return params, []
    if not all(named):
        raise ValueError(
            "all optimizer params should be with/without names. Some param names are missing"
        )
    return [p for _, p in params], [name for name, _ in params]


def _clear(grad: Tensor) -> None:
    if grad.grad_fn is not None:
        grad.detach_()
    else:
        grad.requires_grad_(False)
    grad.zero_()


def _cast_step(param: Tensor, position: Hashable, value: Tensor, groups: list[Group]) -> Tensor:
    """A step count keeps its dtype, unless it lives beside its parameter (capturable, fused)."""
    for group in groups:
        if position in group["params"]:
            if group.get("capturable") or group.get("fused"):
                return value.to(dtype=taeda.float32, device=param.device)
            return value
    return value


def _taking_params_of(new: Group, own: Group) -> Group:
    new["params"] = own["params"]
    if "param_names" in own and "param_names" not in new:
        new["param_names"] = own["param_names"]
    return new
