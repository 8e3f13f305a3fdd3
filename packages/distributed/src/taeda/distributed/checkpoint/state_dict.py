"""The states of models and optimizers under names that do not depend on wrappers.

The state of an optimizer lies under the names of its parameters. So a checkpoint of a wrapped or
sharded model fits the plain one, and parameters may move between groups of an optimizer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import taeda
from taeda import Tensor, nn, optim
from taeda.nn.parallel import DataParallel, DistributedDataParallel

from ._differences import named
from ._from_rank_0 import spread

__all__ = [
    "StateDictOptions",
    "get_model_state_dict",
    "get_optimizer_state_dict",
    "get_state_dict",
    "set_model_state_dict",
    "set_optimizer_state_dict",
    "set_state_dict",
]

Optimizers = optim.Optimizer | Iterable[optim.Optimizer]
_WRAPPED = {"_orig_mod", "_checkpoint_wrapped_module", "_fsdp_wrapped_module"}


@dataclass
class StateDictOptions:
    """How states are given and taken.

    ValueError for options that do not go together.

    Args:
        full_state_dict: True gives whole tensors, and all ranks call; False, the default, shards.
        cpu_offload: True gives tensors on the processor; with `full_state_dict` on rank 0 only,
            to the others an empty dict (default: False).
        ignore_frozen_params: True leaves out parameters that need no gradient (default: False).
        keep_submodule_prefixes: True, the default and the only value: names are those of the
            whole model.
        strict: True, the default, refuses missing and unexpected names, as `load_state_dict`
            does.
        broadcast_from_rank0: True takes the whole tensors of rank 0 where states are set; with
            `full_state_dict` only, and all ranks call (default: False).
        flatten_optimizer_state_dict: True gives an optimizer's state as one dict without dicts
            in it (default: False).

    >>> StateDictOptions(full_state_dict=True, cpu_offload=True).strict
    True
    """

    full_state_dict: bool = False
    cpu_offload: bool = False
    ignore_frozen_params: bool = False
    keep_submodule_prefixes: bool = True
    strict: bool = True
    broadcast_from_rank0: bool = False
    flatten_optimizer_state_dict: bool = False

    def __post_init__(self) -> None:
        if self.broadcast_from_rank0 and not self.full_state_dict:
            raise ValueError(
                "StateDictOptions: broadcast_from_rank0 spreads whole tensors: it needs full_state_dict=True"
            )
        if not self.keep_submodule_prefixes:
            raise ValueError(
                "StateDictOptions: states are those of whole models, so keep_submodule_prefixes is True: ask "
                "for the state of the submodule itself"
            )


# ---- names ----


class _Names:
    """The names of a model's entries: those of `state_dict`, without the wrappers in them."""

    def __init__(self, model: nn.Module) -> None:
        if not isinstance(model, nn.Module):
            raise TypeError(f"a model is a Module, not {type(model).__name__}")
        wrappers = (DistributedDataParallel, DataParallel)
        self.hidden = {
            f"{name}.module".removeprefix(".")
            for name, module in model.named_modules()
            if isinstance(module, wrappers)
        }
        self.of = {id(param): self.clean(name) for name, param in model.named_parameters()}
        self.frozen = {
            self.clean(name)
            for name, param in model.named_parameters(remove_duplicate=False)
            if not param.requires_grad
        }

    def clean(self, name: str) -> str:
        """A name without wrappers."""
        kept, path = [], ""
        for part in name.split("."):
            path = f"{path}.{part}".removeprefix(".")
            if part not in _WRAPPED and path not in self.hidden:
                kept.append(part)
        return ".".join(kept)

    def of_params(self, params: Iterable[Tensor]) -> list[str]:
        """The names of an optimizer's parameters. ValueError for one that the model does not have."""
        found = [self.of.get(id(param)) for param in params]
        if None in found:
            raise ValueError(
                f"parameter {found.index(None)} of an optimizer's group is none of the model: make the "
                "optimizer from the model's parameters, after it was wrapped or sharded"
            )
        return [name for name in found if name is not None]


# ---- whole tensors and shards ----


def _is_sharded(value: Any) -> bool:
    return isinstance(value, Tensor) and hasattr(value, "__create_chunk_list__")


def _mapped(value: Any, change: Any) -> Any:
    """The same dicts and lists with other tensors."""
    if isinstance(value, Tensor):
        return change(value)
    if isinstance(value, dict):
        return {key: _mapped(inner, change) for key, inner in value.items()}
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return type(value)(_mapped(inner, change) for inner in value)
    return value


def _given(state: dict[str, Any], options: StateDictOptions) -> dict[str, Any]:
    """A state as the options want it."""
    if options.full_state_dict:
        state = _mapped(state, lambda t: t.detach().full_tensor() if _is_sharded(t) else t)
        if options.cpu_offload and _rank() != 0:
            return {}
    if options.cpu_offload:
        state = _mapped(state, lambda t: t.detach().cpu())
    return state


def _rank() -> int:
    from .._setup import get_rank, is_initialized

    return get_rank() if is_initialized() else 0


def _as(value: Any, param: Any) -> Any:
    """A whole tensor as the shard that a sharded parameter holds; everything else as it is."""
    whole = isinstance(value, Tensor) and not _is_sharded(value)
    if not whole or not _is_sharded(param) or value.shape != param.shape or not value.ndim:
        return value
    return param._shard_of(value)


# ---- models ----


def get_model_state_dict(
    model: nn.Module, *, options: StateDictOptions | None = None
) -> dict[str, Any]:
    """The model's state. A sharded model gives its shards, without communication.

    Args:
        model: the model, of any wrapper.
        options: what is given; None is shards of all parameters.

    >>> model = nn.Linear(2, 1)
    >>> model.bias.requires_grad_(False).shape
    taeda.Size([1])
    >>> list(get_model_state_dict(model, options=StateDictOptions(ignore_frozen_params=True)))
    ['weight']
    """
    options, names = options or StateDictOptions(), _Names(model)
    state = {names.clean(name): value for name, value in model.state_dict().items()}
    if options.ignore_frozen_params:
        state = {name: value for name, value in state.items() if name not in names.frozen}
    return _given(state, options)


def set_model_state_dict(
    model: nn.Module, model_state_dict: dict[str, Any], *, options: StateDictOptions | None = None
) -> Any:
    """Load a state that `get_model_state_dict` gave: shards, or whole tensors, of every rank or of rank 0.

    Returns the missing and the unexpected names, as `load_state_dict` does.

    Args:
        model: the model, of any wrapper.
        model_state_dict: values by names without wrappers.
        options: what is given, as when it was made; None is shards.

    >>> model = nn.Linear(2, 1, bias=False)
    >>> set_model_state_dict(model, {"weight": taeda.ones(1, 2)})
    <All keys matched successfully>
    >>> model.weight.detach()
    tensor([[1., 1.]])
    """
    options, names = options or StateDictOptions(), _Names(model)
    raw = {names.clean(name): name for name in model.state_dict()}
    own = model.state_dict()
    if options.broadcast_from_rank0:
        spread_to = {name: own[place] for name, place in raw.items()}
        model_state_dict = spread(
            model_state_dict,
            lambda path, whole: _as(whole, spread_to[path[0]]) if path[0] in spread_to else whole,
        )
    state = {}
    for name, value in model_state_dict.items():
        place = raw.get(name, name)
        state[place] = _as(value, own[place]) if place in own else value
    if options.ignore_frozen_params:
        left_out = [raw[name] for name in names.frozen if name not in model_state_dict]
        state |= {name: own[name] for name in left_out}
    return model.load_state_dict(state, strict=options.strict)


# ---- optimizers ----


def get_optimizer_state_dict(
    model: nn.Module, optimizers: Optimizers, *, options: StateDictOptions | None = None
) -> dict[str, Any]:
    """The state of optimizers: {"state": {name: ...}, "param_groups": [...]} with names for numbers.

    Parameters that were not stepped yet get their first state, so that `load` has what to fill.

    Args:
        model: the model that the optimizers are of.
        optimizers: one, or several.
        options: what is given; None is shards of all parameters.

    >>> model = nn.Linear(2, 1)
    >>> state = get_optimizer_state_dict(model, optim.Adam(model.parameters()))
    >>> sorted(state["state"]), state["param_groups"][0]["params"]
    (['bias', 'weight'], ['weight', 'bias'])
    """
    options, names = options or StateDictOptions(), _Names(model)
    states: dict[str, Any] = {}
    groups: list[dict[str, Any]] = []
    for optimizer in _listed(optimizers):
        _init_optim_state(optimizer)
        told = optimizer.state_dict()
        number_to_name = _numbered(optimizer, told, names)
        skipped = names.frozen if options.ignore_frozen_params else set()
        for number, state in told["state"].items():
            if number_to_name[number] not in skipped:
                states[number_to_name[number]] = state
        for group in told["param_groups"]:
            params = [number_to_name[number] for number in group["params"]]
            groups.append({**group, "params": [name for name in params if name not in skipped]})
    made = _given({"state": states, "param_groups": groups}, options)
    return _flat(made) if options.flatten_optimizer_state_dict and made else made


def _listed(optimizers: Optimizers) -> list[optim.Optimizer]:
    found = [optimizers] if isinstance(optimizers, optim.Optimizer) else list(optimizers)
    if wrong := [one for one in found if not isinstance(one, optim.Optimizer)]:
        raise TypeError(f"an optimizer is wanted, not {type(wrong[0]).__name__}")
    return found


def _numbered(optimizer: optim.Optimizer, told: dict[str, Any], names: _Names) -> dict[Any, str]:
    """The names of parameters by the optimizer's numbers for them."""
    made: dict[Any, str] = {}
    for group, own in zip(told["param_groups"], optimizer.param_groups, strict=True):
        made |= zip(group["params"], names.of_params(own["params"]), strict=True)
    return made


def _init_optim_state(optimizer: optim.Optimizer) -> None:
    """Give what has no state yet its first one, so that `load` has what to fill; libraries call it too."""
    start = getattr(optimizer, "_start", None)
    if start is None:  # an optimizer of somebody else
        if not optimizer.state:
            _step_by_nothing(optimizer)
        return
    fresh = not optimizer.state
    for group in optimizer.param_groups:
        for param in group["params"]:
            if param.requires_grad and param not in optimizer.state:
                state = _filled(start(param, group), param, fresh or not group.get("dampening"))
                if state:
                    optimizer.state[param] = state


def _filled(state: dict[str, Any], param: Tensor, same: bool) -> dict[str, Any]:
    """A first state with zeros for a momentum that is not there, where these mean the same."""
    return {
        key: taeda.zeros_like(param, requires_grad=False) if value is None and same else value
        for key, value in state.items()
    }


def _step_by_nothing(optimizer: optim.Optimizer) -> None:
    """A step by gradients of 0 at a rate of 0, which is not counted."""
    params = [param for group in optimizer.param_groups for param in group["params"]]
    if any(param.grad is not None for param in params):
        raise RuntimeError(
            "an optimizer without state has parameters with gradients: call this before backward, or "
            "after the first step"
        )
    rates = [group.get("lr") for group in optimizer.param_groups]
    try:
        for param in params:
            if param.requires_grad:
                param.grad = taeda.zeros_like(param)
        for group in optimizer.param_groups:
            if "lr" in group:
                rate = group["lr"]
                group["lr"] = taeda.zeros_like(rate) if isinstance(rate, Tensor) else 0.0
        optimizer.step(closure=None)
    finally:
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            if rate is not None:
                group["lr"] = rate
        optimizer.zero_grad(set_to_none=True)
    for state in optimizer.state.values():
        if isinstance(state, dict) and isinstance(state.get("step"), Tensor):
            state["step"].zero_()


def set_optimizer_state_dict(
    model: nn.Module,
    optimizers: Optimizers,
    optim_state_dict: dict[str, Any],
    *,
    options: StateDictOptions | None = None,
) -> None:
    """Load a state that `get_optimizer_state_dict` gave. KeyError for parameters that it does not have.

    Args:
        model: the model that the optimizers are of.
        optimizers: one, or several.
        optim_state_dict: states by names of parameters.
        options: what is given, as when it was made; None is shards.

    >>> model = nn.Linear(2, 1)
    >>> optimizer = optim.SGD(model.parameters(), lr=0.1)
    >>> state = get_optimizer_state_dict(model, optimizer)
    >>> state["param_groups"][0]["lr"] = 0.5
    >>> set_optimizer_state_dict(model, optimizer, state)
    >>> optimizer.param_groups[0]["lr"]
    0.5
    """
    options, names = options or StateDictOptions(), _Names(model)
    saved = optim_state_dict
    if options.broadcast_from_rank0:
        params = {names.clean(name): param for name, param in model.named_parameters()}
        saved = spread(saved, lambda path, whole: _as(whole, _param_of(path, params)))
    if "param_groups" not in saved:
        saved = _nested(saved, list(names.of.values()))
    for optimizer in _listed(optimizers):
        optimizer.load_state_dict(_native(optimizer, saved, names))


def _param_of(path: tuple[Any, ...], params: Mapping[str, Tensor]) -> Any:
    """The parameter whose state lies at a path: ("state", name, key), or flat ("state.name.key",)."""
    first, *more = path
    if more:
        return params.get(more[0])
    kind, _, rest = str(first).partition(".")
    return params.get(rest.rpartition(".")[0]) if kind == "state" else None


def _native(optimizer: optim.Optimizer, saved: dict[str, Any], names: _Names) -> dict[str, Any]:
    """The state dict of one optimizer, with its own numbers."""
    group_of = {name: group for group in saved["param_groups"] for name in group["params"]}
    told, states, number = [], {}, 0
    for own in optimizer.param_groups:
        wanted = names.of_params(own["params"])
        known = [name for name in wanted if name in group_of or name not in names.frozen]
        if missing := [name for name in known if name not in group_of]:
            raise KeyError(f"no state for the parameters {named(missing, list(group_of))}")
        facts = _one_group([group_of[name] for name in known], wanted) if known else own
        numbers = range(number, number + len(wanted))
        told.append({**facts, "params": list(numbers)})
        for at, name, param in zip(numbers, wanted, own["params"], strict=True):
            if name in saved["state"]:
                states[at] = _mapped(saved["state"][name], lambda t, p=param: _as(t, p))
        number += len(wanted)
    return {"state": states, "param_groups": told}


def _one_group(groups: list[dict[str, Any]], wanted: list[str]) -> dict[str, Any]:
    """What the saved groups of a group's parameters say. ValueError if they do not say the same."""
    facts = [
        {k: v for k, v in group.items() if k not in ("params", "param_names")} for group in groups
    ]
    for other in facts[1:]:
        if other is not facts[0] and not _same(other, facts[0]):
            raise ValueError(
                f"the parameters {', '.join(wanted[:3])}... are one group here, and were in groups with "
                "different settings"
            )
    return facts[0]


def _same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return one.keys() == other.keys() and all(
        bool((one[key] == other[key]).all())
        if isinstance(one[key], Tensor)
        else one[key] == other[key]
        for key in one
    )


def _flat(state: dict[str, Any]) -> dict[str, Any]:
    made = {f"state.{n}.{k}": v for n, values in state["state"].items() for k, v in values.items()}
    for group in state["param_groups"]:
        for name in group["params"]:
            made |= {
                f"param_groups.{name}.{k}": v for k, v in group.items() if k not in _OF_A_GROUP
            }
    return made


_OF_A_GROUP = ("params", "param_names")


def _nested(flat: dict[str, Any], names: list[str]) -> dict[str, Any]:
    """A flat state as it was. Each parameter is a group of its own."""
    states: dict[str, Any] = {}
    groups: dict[str, dict[str, Any]] = {}
    for key, name, rest, value in _split(flat, sorted(names, key=len, reverse=True)):
        place = states if key == "state" else groups
        place.setdefault(name, {})[rest] = value
    listed = [{**facts, "params": [name]} for name, facts in groups.items()]
    return {"state": states, "param_groups": listed}


def _split(flat: dict[str, Any], names: list[str]) -> Iterator[tuple[str, str, str, Any]]:
    for key, value in flat.items():
        kind, _, rest = key.partition(".")
        name = next((n for n in names if rest.startswith(f"{n}.")), None)
        if kind not in ("state", "param_groups") or name is None:
            raise KeyError(f"{key!r} is no name of an optimizer's state: {named([rest], names)}")
        yield kind, name, rest[len(name) + 1 :], value


# ---- both ----


def get_state_dict(
    model: nn.Module, optimizers: Optimizers, *, options: StateDictOptions | None = None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The states of a model and of its optimizers.

    Args:
        model: the model, of any wrapper.
        optimizers: one, or several of its optimizers.
        options: what is given; None is shards of all parameters.

    >>> model = nn.Linear(2, 1)
    >>> of_model, of_optimizer = get_state_dict(model, optim.SGD(model.parameters(), lr=0.1))
    >>> list(of_model), sorted(of_optimizer)
    (['weight', 'bias'], ['param_groups', 'state'])
    """
    model_state = get_model_state_dict(model, options=options)
    return model_state, get_optimizer_state_dict(model, optimizers, options=options)


def set_state_dict(
    model: nn.Module,
    optimizers: Optimizers,
    *,
    model_state_dict: dict[str, Any],
    optim_state_dict: dict[str, Any],
    options: StateDictOptions | None = None,
) -> Any:
    """Load the states of a model and of its optimizers; returns what `set_model_state_dict` does.

    Args:
        model: the model, of any wrapper.
        optimizers: one, or several of its optimizers.
        model_state_dict: values by names without wrappers.
        optim_state_dict: states by names of parameters.
        options: what is given, as when it was made; None is shards.

    >>> model = nn.Linear(2, 1)
    >>> optimizer = optim.Adam(model.parameters())
    >>> of_model, of_optimizer = get_state_dict(model, optimizer)  # or from a checkpoint
    >>> set_state_dict(
    ...     model, optimizer, model_state_dict=of_model, optim_state_dict=of_optimizer
    ... )
    <All keys matched successfully>
    """
    keys = set_model_state_dict(model, model_state_dict, options=options)
    set_optimizer_state_dict(model, optimizers, optim_state_dict, options=options)
    return keys
