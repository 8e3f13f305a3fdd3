"""Whole modules in files: how one is restored from its attributes, ours or torch's, and which
classes are taeda's own.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Mapping
from typing import Any

from taeda._core_api.files import Family, register_family

from ._members import TABLES, adopt_hooks, adopt_tables

__all__ = ["adapt", "put", "register"]

#: attributes of torch's modules that ours keep otherwise, or compute
_FOREIGN = frozenset(
    {"_is_full_backward_hook", "_flat_weights", "_flat_weights_names", "_flat_weight_refs", "_all_weights",
     "activation_relu_or_gelu", "_compiled_call_impl"}
)  # fmt: skip
_base: list[type] = []


def put(module: Any, state: Any) -> None:
    """Give a new module its attributes; none of its own code runs.
    TypeError for what is no module's state.
    """
    if not isinstance(state, Mapping) or not all(isinstance(name, str) for name in state):
        raise TypeError("the state of a module is a dict of attributes")
    for table in TABLES:
        if not isinstance(state.get(table), dict):
            raise TypeError(f"the state of a module has no table {table}")
    module.__dict__.update(adapt(module, dict(state)))
    adopt_hooks(module)
    adopt_tables(module)


def adapt(module: Any, state: dict[str, Any]) -> dict[str, Any]:
    """The attributes of a module as ours has them: tables of hooks without a hook, and what torch
    caches, are left out.
    """
    if "_is_full_backward_hook" not in state:  # torch's modules have it
        return state
    kept = {
        name: value
        for name, value in state.items()
        if name not in _FOREIGN and not _is_empty_table(name, value)
    }
    made = type(module).__mro__
    if any(kind.__name__ == "RNNBase" for kind in made) and "_suffixes" not in kept:
        sides = ("", "_reverse")[: 1 + bool(kept.get("bidirectional"))]
        layers = kept.get("num_layers")
        if type(layers) is not int or not 0 < layers <= len(kept["_parameters"]):
            raise TypeError(
                f"a recurrent module of {len(kept['_parameters'])} parameters cannot have {layers!r} layers"
            )
        kept["_suffixes"] = [f"_l{layer}{side}" for layer in range(layers) for side in sides]
    return kept


def _is_empty_table(name: str, value: Any) -> bool:
    return "hooks" in name and isinstance(value, dict) and not value


def own(name: str) -> Any:
    """The layer, loss or function of taeda.nn that a full name of ours or of torch's stands for;
    None for other names.
    """
    if name.startswith("torch._C._nn."):  # how torch names some functions
        name = name.replace("_C._nn", "nn.functional", 1)
    top, _, place = name.partition(".nn.")
    last = name.rpartition(".")[2]
    if top not in ("taeda", "torch"):
        return None
    if place.startswith("functional."):
        functions = importlib.import_module("taeda.nn.functional")
        return getattr(functions, last, None) if last in functions.__all__ else None
    return _layers().get(last) if place.startswith("modules.") else None


def torch_name(thing: Any) -> tuple[str, str]:
    """Where torch has a layer or function of ours: its files are cut otherwise, and all layers
    stand in one place.
    """
    if not isinstance(thing, type):
        return "torch.nn.functional", thing.__name__
    public = thing.__name__ in importlib.import_module("taeda.nn.modules").__all__
    return "torch.nn.modules" if public else thing.__module__.replace(
        "taeda.", "torch.", 1
    ), thing.__name__


@functools.cache
def _layers() -> dict[str, type]:
    """Every class of modules in these files, by its name."""
    importlib.import_module("taeda.nn.modules").__all__  # noqa: B018 - asking for a name runs all of its files
    found, todo = {}, list(_base)
    while todo:
        kind = todo.pop()
        todo.extend(kind.__subclasses__())
        if kind.__module__.startswith("taeda.nn.modules."):
            found[kind.__name__] = kind
    return found


def register(base: type) -> None:
    """Tell core's files about modules."""
    _base.append(base)
    register_family(Family(base, put, own, torch_name))
