"""Private modules of torch that libraries import all the same, for `install_as_torch`: what each name means here."""

from __future__ import annotations

import contextlib
from types import ModuleType
from typing import Any

__all__ = ["FILLED", "MODULES", "made"]


def _same(function: Any = None, *args: Any, **kwargs: Any) -> Any:
    """A decorator, with arguments or without, that leaves a function as it is: nothing here looks into it."""
    if callable(function):
        return function
    return lambda given: given


def _nothing(*args: Any, **kwargs: Any) -> None:
    """Advice to a tracer, of which there is none."""


class _NoObject:
    """A class of which there are no objects."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise RuntimeError(f"{type(self).__module__}.{type(self).__name__} does not exist in taeda")


def _class(name: str, module: str) -> type:
    return type(name, (_NoObject,), {"__module__": module})


#: names of public modules that libraries name at import, in annotations or as decorators, where ours has none
FILLED: dict[str, dict[str, Any]] = {
    "cuda": {name: _class(name, "torch.cuda") for name in ("CUDAGraph", "Event", "Stream", "StreamContext", "graph")},
    "compiler": {
        "allow_in_graph": _same, "assume_constant_result": _same, "cudagraph_mark_step_begin": _nothing,
        "substitute_in_graph": lambda original, **options: _same,
    },
}  # fmt: skip
#: names by private module; a module is a package if another one lies below it
MODULES: dict[str, dict[str, Any]] = {
    "torch._dynamo": {
        "allow_in_graph": _same, "assume_constant_result": _same, "disable": _same, "is_compiling": lambda: False, "mark_dynamic": _nothing,
        "mark_static": _nothing, "mark_static_address": _nothing, "reset": _nothing, "graph_break": _nothing,
        "OptimizedModule": _class("OptimizedModule", "torch._dynamo"),
    },
    # indexing by a tensor under vmap needs no help here
    "torch._dynamo._trace_wrapped_higher_order_op": {"TransformGetItemToIndex": contextlib.nullcontext},
}  # fmt: skip


def made(name: str) -> ModuleType:
    """A module of the table."""
    module = ModuleType(name, f"{name}, as far as libraries name it: see taeda.install_as_torch.")
    module.__dict__.update(MODULES[name])
    return module
