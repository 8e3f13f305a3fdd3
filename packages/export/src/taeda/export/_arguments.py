"""Arguments of a call by the names that `forward` has for them."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from taeda import nn
from taeda.compiler._errors import UserError

__all__ = ["bound_arguments", "spread_demands"]

_ROWS = {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}


def bound_arguments(mod: nn.Module, args: Any, kwargs: Any) -> dict[str, Any]:
    """Arguments by name, in the order of the leaves."""
    try:
        signature = inspect.signature(mod.forward)
        bound = signature.bind(*args, **kwargs).arguments
    except TypeError as error:
        raise UserError(f"forward of {type(mod).__name__}: {error}") from error
    made: dict[str, Any] = {}
    for name, value in bound.items():
        kind = signature.parameters[name].kind
        if kind is inspect.Parameter.VAR_POSITIONAL:
            made.update({f"{name}_{k}": v for k, v in enumerate(value)})
        elif kind is inspect.Parameter.VAR_KEYWORD:
            continue
        elif name not in kwargs:
            made[name] = value
    return {**made, **kwargs}


def spread_demands(mod: nn.Module, args: Any, kwargs: Any, shapes: Any) -> Any:
    """`dynamic_shapes` with an entry for each argument: `*args` and `**kwargs` of `forward` may have
    one entry for all of theirs, a tuple or a dict.
    """
    signature = inspect.signature(mod.forward)
    bound = signature.bind(*args, **kwargs).arguments
    kinds = {name: signature.parameters[name].kind for name in bound}
    if _ROWS.isdisjoint(kinds.values()):
        return shapes
    if isinstance(shapes, Mapping):
        made: dict[str, Any] = {}
        for name, demand in shapes.items():
            kind = kinds.get(name)
            if kind is inspect.Parameter.VAR_POSITIONAL:
                made.update(_spread(name, len(bound[name]), demand))
            elif kind is inspect.Parameter.VAR_KEYWORD and isinstance(demand, Mapping):
                made.update(demand)
            else:
                made[name] = demand
        return made
    if not isinstance(shapes, tuple | list) or len(shapes) != len(bound):
        return shapes
    pairs = dict(zip(bound, shapes, strict=True))
    rows = [n for n, kind in kinds.items() if kind is inspect.Parameter.VAR_POSITIONAL]
    several = all(_is_for_several(pairs[n], len(bound[n])) for n in rows)
    return spread_demands(mod, args, kwargs, pairs) if several else shapes


def _is_for_several(demand: Any, count: int) -> bool:
    """Whether it has demands of tensors, not of the sizes of one."""
    return (
        isinstance(demand, tuple | list)
        and len(demand) == count
        and all(d is None or isinstance(d, Mapping | tuple | list) for d in demand)
    )


def _spread(name: str, count: int, demand: Any) -> dict[str, Any]:
    if demand is None:
        return {}
    if not isinstance(demand, tuple | list) or len(demand) != count:
        raise UserError(
            f"dynamic_shapes has {demand!r:.200} for *{name}: a tuple of {count} entries was wanted"
        )
    return {f"{name}_{k}": one for k, one in enumerate(demand)}
