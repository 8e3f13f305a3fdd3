"""State of an optimizer as a dict, and back."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Hashable
from copy import deepcopy
from itertools import chain
from typing import Any, TypeAlias

import taeda
from taeda import Tensor

from ._hooks import Hooked

__all__ = ["Group", "Saved", "StateDict"]

StateDict: TypeAlias = dict[str, Any]
Group: TypeAlias = dict[str, Any]

#: numbers of NAdam and ASGD that do not follow their parameter's dtype: cast, they would go on with
#: other digits
_OWN_DTYPE = ("mu_product", "eta", "mu")


class Saved(Hooked):
    """An optimizer's state, saved by positions of parameters instead of the parameters."""

    state: defaultdict[Tensor, Any]
    param_groups: list[Group]
    defaults: dict[str, Any]

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._make_hook_tables()  # hooks are not saved with the rest
        self.defaults.setdefault("differentiable", False)

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
            if key in _OWN_DTYPE:
                return value.to(device=param.device)
            if param.is_floating_point():
                return value.to(dtype=param.dtype, device=param.device)
            return value.to(device=param.device)
        if isinstance(value, dict):
            return {k: again(v, groups, k) for k, v in value.items()}
        if isinstance(value, (list, tuple, set)):
            return type(value)(again(v, groups) for v in value)
        return value


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
