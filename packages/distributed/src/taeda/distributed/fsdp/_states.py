"""States of models and optimizers under FullyShardedDataParallel, in each of their types."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from taeda import Tensor, nn, optim

from .._objects import broadcast_object_list
from .._setup import get_rank
from ..tensor._api import DTensor
from .api import FullOptimStateDictConfig, FullStateDictConfig, StateDictSettings, StateDictType

__all__ = ["PART", "clean", "given", "taken"]

#: the attribute under which a wrapper holds its module
PART = "_fsdp_wrapped_module"


def clean(name: str) -> str:
    """A name without wrappers."""
    return ".".join(part for part in name.split(".") if part != PART)


def given(value: Any, settings: StateDictSettings, optim_state: bool = False) -> Any:
    """A tensor of a state as its type has it. For whole tensors all ranks call."""
    config = settings.optim_state_dict_config if optim_state else settings.state_dict_config
    if isinstance(value, DTensor):
        value = value.detach()
        if settings.state_dict_type is StateDictType.SHARDED_STATE_DICT:
            return value._like(value._local.cpu()) if config.offload_to_cpu else value
        whole = settings.state_dict_type is StateDictType.FULL_STATE_DICT
        value = value.full_tensor() if whole else value.to_local()
    if isinstance(value, Tensor):
        return value.detach().cpu() if config.offload_to_cpu else value.detach()
    return value


def hidden(settings: StateDictSettings, optim_state: bool = False) -> bool:
    """Does this rank get nothing?"""
    config = settings.optim_state_dict_config if optim_state else settings.state_dict_config
    rank0 = (
        isinstance(config, (FullStateDictConfig, FullOptimStateDictConfig)) and config.rank0_only
    )
    return rank0 and get_rank() != 0


def taken(value: Any, param: Any, name: str) -> Any:
    """What a state has for a parameter, as the parameter lies."""
    if (
        not isinstance(param, DTensor)
        or not isinstance(value, Tensor)
        or isinstance(value, DTensor)
    ):
        return value
    if value.shape == param.shape:
        return param._shard_of(value)
    if value.shape == param._local.shape:
        return param._like(value.clone())
    raise RuntimeError(
        f"size mismatch for {name}: the state has {tuple(value.shape)}, the parameter {tuple(param.shape)}, "
        f"of which this rank holds {tuple(param._local.shape)}"
    )


# ---- optimizers ----


def names_of(model: nn.Module) -> dict[int, str]:
    """The names of parameters by their ids, without wrappers."""
    return {id(param): clean(name) for name, param in nn.Module.named_parameters(model)}


def optimizer_state(
    model: nn.Module, optimizer: optim.Optimizer, settings: StateDictSettings, state: Any = None
) -> dict[str, Any]:
    """The state of an optimizer by names of parameters."""
    raw = optimizer.state_dict() if state is None else state
    names = names_of(model)
    flat = [param for group in optimizer.param_groups for param in group["params"]]
    listed = [names.get(id(param)) for param in flat]
    if None in listed:
        raise ValueError(
            f"parameter {listed.index(None)} of the optimizer is none of the model: make it from the model's "
            "parameters, after the model was wrapped"
        )
    by_number = dict(enumerate(listed))
    made = {
        by_number.get(number, number): {
            key: given(value, settings, True) for key, value in held.items()
        }
        for number, held in raw["state"].items()
    }
    groups = [
        {**group, "params": [by_number.get(number, number) for number in group["params"]]}
        for group in raw["param_groups"]
    ]
    return {} if hidden(settings, True) else {"state": made, "param_groups": groups}


def optimizer_state_to_load(
    model: nn.Module, state: dict[str, Any], params: Iterable[Tensor] | None
) -> dict[str, Any]:
    """What `load_state_dict` of the optimizer takes, from a state by names."""
    names = names_of(model)
    held = list(nn.Module.parameters(model)) if params is None else list(params)
    order = {names[id(param)]: number for number, param in enumerate(held) if id(param) in names}
    by_name = {names[id(param)]: param for param in held if id(param) in names}
    made: dict[Any, Any] = {}
    for name, values in state["state"].items():
        if name not in order:
            raise KeyError(
                f"the state is of {name!r}, which the optimizer's parameters do not have"
            )
        param = by_name[name]
        made[order[name]] = {
            key: taken(value, param, f"{name}.{key}")
            if isinstance(value, Tensor) and value.ndim
            else value
            for key, value in values.items()
        }
    groups = [
        {**group, "params": [order[name] for name in group["params"]]}
        for group in state["param_groups"]
    ]
    return {"state": made, "param_groups": groups}


def from_first(state: Any, group: Any) -> Any:
    """A state that rank 0 has, on every rank."""
    held = [state]
    broadcast_object_list(held, group=group, group_src=0)
    return held[0]
