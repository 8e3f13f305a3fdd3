"""What a rank computes with its parts: elementwise operators, and norms over all parts.

A list of permissions. What is not in it is refused, because an operator on parts may mean something
else than on the whole.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api.trees import tree_map

from .._collectives import all_reduce
from .._types import ReduceOp
from ._api import DTensor
from .placement_types import Shard

__all__ = ["run"]

#: operators whose result at a place depends on their arguments at that place only
ELEMENTWISE = frozenset(
    "abs add addcdiv addcmul clamp clamp_max clamp_min clone copy detach div empty_like eq exp fill "
    "full_like ge gt isfinite isinf isnan le lerp log logical_and logical_not logical_or lt "
    "masked_fill maximum minimum mul ne neg ones_like pow reciprocal rsqrt sign sqrt square sub "
    "where zero zeros_like _to_copy".split()
)
#: operators over lists of tensors, elementwise in each, that write into their arguments
LISTS = frozenset("_fused_adam_ _fused_adamw_ _fused_sgd_ _fused_adagrad_ _flat_number_".split())


def run(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Compute an operator of DTensors. NotImplementedError for one without a rule."""
    name = str(func).split(".")[1]
    if name == "_global_norm":
        return global_norm(*args, **kwargs)
    if name == "linalg_vector_norm" and len(args) in (1, 2) and not kwargs:
        return global_norm([args[0]], *(args[1:] or (2.0,)))
    if name in LISTS:
        _check_lists(name, args)
        return func(*tree_map(_local, args), **tree_map(_local, kwargs))
    in_place = name.endswith("_") and not name.startswith("_")
    if (name[:-1] if in_place else name) not in ELEMENTWISE:
        raise NotImplementedError(
            f"{name} has no rule for a DTensor: parts of a tensor may give something else than the "
            "whole. Use full_tensor(), or to_local() for this rank's part"
        )
    like = _check_alike(name, args, kwargs)
    made = func(*tree_map(_local, args), **tree_map(_local, kwargs))
    return args[0] if in_place else like._like(made)


def _local(value: Any) -> Any:
    return value._local if isinstance(value, DTensor) else value


def _check_alike(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> DTensor:
    """The tensors lie alike, and plain ones are numbers. RuntimeError for others."""
    values = [value for value in (*args, *kwargs.values()) if isinstance(value, Tensor)]
    like = next(value for value in values if isinstance(value, DTensor))
    for value in values:
        if isinstance(value, DTensor):
            if _layout(value) != _layout(like):
                raise RuntimeError(
                    f"{name} of DTensors that lie differently: {_told(like)} and {_told(value)}"
                )
        elif value.ndim:
            raise RuntimeError(
                f"{name} got a DTensor and a plain Tensor of shape {tuple(value.shape)}: make the plain one "
                "a DTensor by distribute_tensor (for a state dict: set_model_state_dict does it)"
            )
    if not isinstance(args[0], DTensor) and name.endswith("_"):
        raise RuntimeError(f"{name} would write parts of a DTensor into a plain Tensor")
    return like


def _layout(value: DTensor) -> Any:
    return tuple(value.shape), value._placement, value._mesh


def _told(value: DTensor) -> str:
    return f"{tuple(value.shape)} {value._placement} on {value._mesh}"


def _check_lists(name: str, args: tuple[Any, ...]) -> None:
    """At each place of the lists tensors lie alike, or are all plain; step counts are plain."""
    lists = [arg for arg in args if isinstance(arg, (list, tuple)) and arg]
    for row in zip(*lists, strict=False):
        sharded = [value for value in row if isinstance(value, DTensor)]
        plain = [v for v in row if isinstance(v, Tensor) and not isinstance(v, DTensor) and v.ndim]
        if sharded and (plain or any(_layout(v) != _layout(sharded[0]) for v in sharded)):
            raise RuntimeError(
                f"{name} of tensors that lie differently: {_told(sharded[0])} and others"
            )


# ---- norms ----


def global_norm(tensors: Sequence[Tensor], p: float = 2.0) -> Tensor:
    """The norm of all elements, each counted once, on every rank. All ranks of the meshes call it."""
    p = float(p)
    meshes = {t._mesh: t._mesh for t in tensors if isinstance(t, DTensor)}
    whole = [t for t in tensors if not _is_cut(t)]
    parts = [_power([_local(t) for t in whole], p)]
    for mesh in meshes:
        mine = [t._local for t in tensors if _is_cut(t) and t._mesh == mesh]  # type: ignore[attr-defined]
        part = _power(mine, p)
        kind = ReduceOp.SUM if math.isfinite(p) else ReduceOp.MAX if p > 0 else ReduceOp.MIN
        all_reduce(part, kind, mesh.get_group())
        parts.append(part)
    joined = taeda.stack(parts)
    if not math.isfinite(p):
        made = joined.max() if p > 0 else joined.min()
    else:
        made = joined.sum() if p == 0 else joined.sum() ** (1 / p)
    return made.to(_local(tensors[0]).dtype)


def _is_cut(value: Tensor) -> bool:
    return isinstance(value, DTensor) and isinstance(value._placement, Shard)


def _power(tensors: Sequence[Tensor], p: float) -> Tensor:
    """The sum of p-th powers; for infinite p the largest or least absolute value."""
    held = [t for t in tensors if t.numel()]
    if not held:
        least = 0.0 if math.isfinite(p) or p > 0 else math.inf
        return taeda.tensor(least, dtype=taeda.float64)
    norm = taeda.linalg.vector_norm(
        taeda.stack([taeda.linalg.vector_norm(t, p).double() for t in held]), p
    )
    if p == 0:
        return taeda.stack([(t != 0).sum() for t in held]).sum().double()
    return norm**p if math.isfinite(p) else norm
