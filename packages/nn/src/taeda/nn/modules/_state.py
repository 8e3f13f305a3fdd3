"""State dicts of modules: what is written, and how it is read back."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, MutableMapping
from typing import Any, NamedTuple

import taeda
from taeda import Tensor
from taeda.__future__ import get_swap_module_params_on_conversion
from taeda._core_api import warn
from taeda._core_api.foreign import remark
from taeda.utils import swap_tensors
from taeda.utils.hooks import RemovableHandle

from ..parameter import Parameter, is_lazy
from ._convert import like_parameter
from ._hooks import Hooks
from ._traversal import Traversal

__all__ = ["State"]

EXTRA_STATE = "_extra_state"

Hook = Callable[..., Any]


class _IncompatibleKeys(
    NamedTuple("IncompatibleKeys", [("missing_keys", list[str]), ("unexpected_keys", list[str])])
):
    """What `load_state_dict` found missing and what it could not place."""

    __slots__ = ()

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()

    __str__ = __repr__


class State(Hooks, Traversal):
    """The part of Module that writes and reads state dicts."""

    _version: int = 1

    def get_extra_state(self) -> Any:
        """Whatever else belongs into the state dict. Override together with `set_extra_state`."""
        raise RuntimeError(
            "Reached a code path in Module.get_extra_state() that should never be called: "
            "override it to keep extra state."
        )

    def set_extra_state(self, state: Any) -> None:
        """Take back what `get_extra_state` returned."""
        raise RuntimeError(
            "Reached a code path in Module.set_extra_state() that should never be called: "
            "override it to keep extra state."
        )

    def _taeda_has_extra(self, method: str) -> bool:
        return getattr(type(self), method) is not getattr(State, method)

    # ---- hooks ----

    def register_state_dict_pre_hook(self, hook: Hook) -> RemovableHandle:
        """Run `hook(module, prefix, keep_vars)` before the state of this module is collected."""
        return self._taeda_add_hook(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook: Hook) -> RemovableHandle:
        """Run `hook(module, state_dict, prefix, local_metadata)` afterwards; it edits the dict in place."""

        def checked(module: Any, state_dict: Any, prefix: str, local_metadata: Any) -> None:
            if hook(module, state_dict, prefix, local_metadata) is not None:
                raise RuntimeError("state_dict post-hook must return None")

        return self._taeda_add_hook(self._state_dict_hooks, checked)

    def _register_state_dict_hook(self, hook: Hook) -> RemovableHandle:
        """As the public post hook, but what it returns replaces the state dict."""
        return self._taeda_add_hook(self._state_dict_hooks, hook)

    def register_load_state_dict_pre_hook(self, hook: Hook) -> RemovableHandle:
        """Run `hook(module, state_dict, prefix, local_metadata, strict, missing, unexpected,
        errors)` first.
        """
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def _register_load_state_dict_pre_hook(
        self, hook: Hook, with_module: bool = False
    ) -> RemovableHandle:
        return self._taeda_add_hook(self._load_state_dict_pre_hooks, _LoadHook(hook, with_module))

    def register_load_state_dict_post_hook(self, hook: Hook) -> RemovableHandle:
        """Run `hook(module, incompatible_keys)` after this module was loaded; it may edit the lists."""
        return self._taeda_add_hook(self._load_state_dict_post_hooks, hook)

    # ---- write ----

    def state_dict(
        self,
        *args: Any,
        destination: Any = None,
        prefix: str = "",
        keep_vars: bool = False,
    ) -> Any:
        """The persistent tensors by path, each sharing its memory with the module.

        Own parameters and buffers come first, then those of the children. They are detached, unless
        `keep_vars`. The dict has an attribute `_metadata` with the version of every module.
        """
        if args:
            warn(
                "Positional args are being deprecated, use kwargs instead: state_dict(destination, "
                "prefix, keep_vars).",
                FutureWarning,
            )
            given = (*args, *(None, prefix, keep_vars)[len(args) :])
            destination = given[0] if destination is None else destination
            prefix, keep_vars = given[1], given[2]
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        local_metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = local_metadata
        for hook in list(self.__dict__.get("_state_dict_pre_hooks", {}).values()):
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(
                    destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars
                )
        for hook in list(self.__dict__.get("_state_dict_hooks", {}).values()):
            replaced = hook(self, destination, prefix, local_metadata)
            destination = destination if replaced is None else replaced
        return destination

    def _taeda_persistent(self) -> dict[str, Tensor | None]:
        """Own parameters and persistent buffers by name."""
        hidden = self._non_persistent_buffers_set
        kept = {name: b for name, b in self._buffers.items() if name not in hidden}
        return {**self._parameters, **kept}

    def _save_to_state_dict(
        self, destination: MutableMapping[str, Any], prefix: str, keep_vars: bool
    ) -> None:
        """Write what belongs to this module alone; overridden by modules with a state of another form."""
        for name, tensor in self._taeda_persistent().items():
            if tensor is not None:
                destination[prefix + name] = tensor if keep_vars else tensor.detach()
        if self._taeda_has_extra("get_extra_state"):
            destination[prefix + EXTRA_STATE] = self.get_extra_state()

    # ---- read ----

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> _IncompatibleKeys:
        """Copy a state dict into the parameters and buffers; return the missing and unexpected keys.

        The values are cast to the dtype of their target, or, with `assign`, take its place. All that
        fits is loaded; then a RuntimeError lists whatever did not (missing and unexpected keys only if
        `strict`). Raises TypeError if `state_dict` is no mapping.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        loading = _Loading(state_dict, strict, assign)
        tied = _tied(self) if assign else []
        loading.load(self, loading.state, "")
        for places in tied:
            _tie(places)
        return loading.finish(self)

    def _load_from_state_dict(
        self,
        state_dict: Mapping[str, Any],
        prefix: str,
        local_metadata: Mapping[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Read what belongs to this module alone; `local_metadata["version"]` says who wrote it."""
        for hook in list(self.__dict__.get("_load_state_dict_pre_hooks", {}).values()):
            hook(
                self,
                state_dict,
                prefix,
                local_metadata,
                strict,
                missing_keys,
                unexpected_keys,
                error_msgs,
            )
        assign = local_metadata.get("assign_to_params_buffers", False)
        for name, target in self._taeda_persistent().items():
            if target is None:
                continue
            key = prefix + name
            if key in state_dict:
                problem = self._taeda_load_tensor(name, target, key, state_dict[key], assign)
                error_msgs.extend([problem] if problem else [])
            elif strict:
                missing_keys.append(key)
        self._taeda_load_extra(state_dict, prefix, strict, missing_keys, unexpected_keys)
        if strict:
            unexpected_keys.extend(self._taeda_unknown_keys(state_dict, prefix))

    def _taeda_load_extra(
        self,
        state_dict: Mapping[str, Any],
        prefix: str,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
    ) -> None:
        key = prefix + EXTRA_STATE
        if self._taeda_has_extra("set_extra_state"):
            if key in state_dict:
                self.set_extra_state(state_dict[key])
            elif strict:
                missing_keys.append(key)
        elif strict and key in state_dict:
            unexpected_keys.append(key)

    def _taeda_unknown_keys(self, state_dict: Mapping[str, Any], prefix: str) -> list[str]:
        known = self._taeda_persistent()
        unknown = []
        for key in state_dict:
            if key.startswith(prefix) and key != prefix + EXTRA_STATE:
                name, *rest = key[len(prefix) :].split(".", 1)
                if name not in self._modules if rest else known.get(name) is None:
                    unknown.append(key)
        return unknown

    def _taeda_load_tensor(
        self, name: str, target: Tensor, key: str, value: Any, assign: bool
    ) -> str | None:
        """Load one tensor; a sentence if that is not possible."""
        if not isinstance(value, Tensor):
            return (
                f'While copying the parameter named "{key}", expected taeda.Tensor or Tensor-like '
                f"object from checkpoint but received {type(value)}{remark(value)}"
            )
        lazy = is_lazy(target)
        if is_lazy(value):
            return self._taeda_load_lazy(name, target, key, value, assign)
        if not lazy and target.dim() == 0 and value.dim() == 1 and len(value) == 1:
            value = value[0]
        if not lazy and (value.is_nested or target.is_nested):
            if not (assign and value.is_nested and target.is_nested):
                return (
                    f"{key}: a nested tensor takes the place of another one, whose sizes may differ, and its "
                    "numbers are not copied: load_state_dict(assign=True), into a module with a nested one"
                )
        elif not lazy and value.shape != target.shape:
            return (
                f"size mismatch for {key}: copying a param with shape {value.shape} from checkpoint, "
                f"the shape in current model is {target.shape}."
            )
        if target.is_meta and not value.is_meta and not assign:
            warn(
                f"for {key}: copying from a non-meta parameter in the checkpoint to a meta parameter in "
                "the current model, which is a no-op. (Did you mean to pass `assign=True`?)",
            )
        try:
            self._taeda_put(name, target, value, assign)
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001 - all problems of a checkpoint are reported together
            return (
                f'While copying the parameter named "{key}", whose dimensions in the model are '
                f"{target.shape} and whose dimensions in the checkpoint are {value.shape}, "
                f"an exception occurred : {error.args}."
            )
        return None

    def _taeda_load_lazy(
        self, name: str, target: Tensor, key: str, value: Any, assign: bool
    ) -> str | None:
        """Load what has no values: nothing, where there are none either."""
        if not is_lazy(target):
            return (
                f"{key}: the shape of an uninitialized tensor, which the checkpoint has, fits "
                "none, and the shape in "
                f"current model is {target.shape}: call the lazy module once before its state is saved."
            )
        if assign:
            setattr(self, name, value)
        return None

    def _taeda_put(self, name: str, target: Tensor, value: Tensor, assign: bool) -> None:
        with taeda.no_grad():
            if get_swap_module_params_on_conversion():
                loaded = target.module_load(value, assign=assign)
                own = loaded is not value and loaded is not target
                swap_tensors(target, like_parameter(target, loaded if own else loaded.detach()))
            elif not assign:
                target.copy_(value)
            elif isinstance(target, Parameter) and not isinstance(value, Parameter):
                setattr(self, name, Parameter(value, requires_grad=target.requires_grad))
            else:
                setattr(self, name, value)
                if isinstance(target, Parameter):
                    value.requires_grad_(target.requires_grad)


Place = tuple[Any, str]  # a module, and the name of one of its parameters


def _tied(module: Any) -> list[list[Place]]:
    """The places that hold one parameter together."""
    places: dict[int, list[Place]] = {}
    for m in module.modules():
        for name, param in m._parameters.items():
            if param is not None:
                places.setdefault(id(param), []).append((m, name))
    return [found for found in places.values() if len(found) > 1]


def _tie(places: list[Place]) -> None:
    """They hold one parameter again, if what was loaded for each is the same."""
    (first, name), *others = places
    shared = first._parameters[name]
    for m, n in others:
        own = m._parameters[n]
        if own is shared or own is None or shared is None or is_lazy(own) or is_lazy(shared):
            continue
        alike = (
            own.shape == shared.shape and own.dtype is shared.dtype and own.device == shared.device
        )
        if alike and not own.is_meta and taeda.equal(own, shared):
            setattr(m, n, shared)


class _LoadHook:
    """A hook that edits a state dict before it is read. Some take the module first, older ones do not."""

    __module__ = "taeda.nn.modules.module"  # where pickles of lazy modules find it

    def __init__(self, hook: Hook, with_module: bool) -> None:
        self.hook, self.with_module = hook, with_module

    def __call__(self, module: Any, *args: Any) -> None:
        self.hook(*((module, *args) if self.with_module else args))


class _Loading:
    """One call of `load_state_dict`: what was found wrong so far."""

    def __init__(self, state_dict: Mapping[str, Any], strict: bool, assign: bool) -> None:
        self.metadata = getattr(state_dict, "_metadata", None)
        self.state: OrderedDict[str, Any] = OrderedDict(state_dict)
        if self.metadata is not None:
            self.state._metadata = self.metadata  # type: ignore[attr-defined]  # as state_dict() has it
        self.strict, self.assign = strict, assign
        self.missing: list[str] = []
        self.unexpected: list[str] = []
        self.errors: list[str] = []

    def load(self, module: Any, state: Mapping[str, Any], prefix: str) -> None:
        local = dict((self.metadata or {}).get(prefix[:-1], {}))
        if self.assign:
            local["assign_to_params_buffers"] = True
        module._load_from_state_dict(
            state, prefix, local, True, self.missing, self.unexpected, self.errors
        )
        for name, child in module._modules.items():
            if child is not None:
                below = f"{prefix}{name}."
                self.load(child, {k: v for k, v in state.items() if k.startswith(below)}, below)
        keys = _IncompatibleKeys(self.missing, self.unexpected)
        for hook in list(module.__dict__.get("_load_state_dict_post_hooks", {}).values()):
            if hook(module, keys) is not None:
                raise RuntimeError(
                    "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to "
                    "return new values, if incompatible_keys need to be modified, it should be done inplace."
                )

    def finish(self, module: Any) -> _IncompatibleKeys:
        if self.strict:
            for what, keys in (("Unexpected", self.unexpected), ("Missing", self.missing)):
                if keys:
                    names = ", ".join(f'"{key}"' for key in keys)
                    self.errors.insert(0, f"{what} key(s) in state_dict: {names}. ")
        if self.errors:
            listed = "\n\t".join(self.errors)
            raise RuntimeError(
                f"Error(s) in loading state_dict for {type(module).__name__}:\n\t{listed}"
            )
        return _IncompatibleKeys(self.missing, self.unexpected)
