"""Rows over lists of tensors, as optimizers and clipping call them: elementwise, or a norm of all."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api.trees import tree_map

from ._api import DTensor
from ._redistribute import redistributed, reduced
from ._spec import Spec
from .placement_types import Partial, Replicate, Shard

__all__ = ["ROWS", "global_norm", "run"]

ELEMENTWISE = frozenset(
    "_fused_adam_ _fused_adamw_ _fused_sgd_ _fused_adagrad_ _flat_number_".split()
)
ROWS = ELEMENTWISE | {"_global_norm", "_flat_norms"}


def run(func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Compute a row over lists."""
    if name == "_global_norm":
        return global_norm(*args, **kwargs)
    if name == "_flat_norms":
        return [global_norm([one], *args[1:2]) for one in args[0]]
    if name == "_flat_number_":
        _check_terms(name, args)
    args = _alike(name, args)
    func(*tree_map(_local, args), **tree_map(_local, kwargs))
    return None


def _local(value: Any) -> Any:
    return value._local if isinstance(value, DTensor) else value


def _check_terms(name: str, args: Any) -> None:
    if args[2:] and args[2] in ("mul", "div"):
        return
    for value in args[0]:
        if isinstance(value, DTensor) and value._spec.is_partial:
            raise RuntimeError(f"{name} of terms of a sum: {value._spec}. Redistribute it first")


def _alike(name: str, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """At each place of the lists the tensors lie as the first one; the gradient is moved to it."""
    lists = [list(arg) if isinstance(arg, (list, tuple)) else arg for arg in args]
    for place in range(len(lists[0])):
        first = lists[0][place]
        for number, held in enumerate(lists):
            if not isinstance(held, list) or place >= len(held):
                continue
            value: Any = held[place]
            if not isinstance(value, Tensor) or (not value.ndim and not isinstance(value, DTensor)):
                continue  # a count of steps
            same = isinstance(first, DTensor) == isinstance(value, DTensor)
            if same and (not isinstance(first, DTensor) or _lies_as(value, first)):
                continue
            if same and number == 1 and _may_move(value, first):
                moved: Any = value
                local = redistributed(moved._local, moved._spec, first._spec)
                held[place] = DTensor(local, first._spec)
                continue
            raise RuntimeError(
                f"{name} of tensors that lie differently: {_told(first)} and {_told(value)}"
            )
    return tuple(lists)


def _may_move(value: Any, first: Any) -> bool:
    """Can a gradient be moved to where its parameter lies?"""
    return bool(value.shape == first.shape and value._spec.mesh == first._spec.mesh)


def _lies_as(value: Any, first: Any) -> bool:
    a, b = value._spec, first._spec
    return a is b or (
        a.mesh == b.mesh and (a.placements, a.shape, a.order) == (b.placements, b.shape, b.order)
    )


def _told(value: Tensor) -> str:
    return (
        str(value._spec) if isinstance(value, DTensor) else f"a plain one of {tuple(value.shape)}"
    )


# ---- norms ----


def global_norm(tensors: Sequence[Tensor], p: float = 2.0) -> Tensor:
    """The norm of all elements, each counted once, on every rank. All ranks of the meshes call it."""
    p = float(p)
    by: dict[Any, list[Tensor]] = {}
    for value in tensors:
        local, spec = _whole_terms(value)
        cut = (
            ()
            if spec is None
            else tuple(dim for dim, place in enumerate(spec.placements) if isinstance(place, Shard))
        )
        by.setdefault((spec.mesh if spec is not None and cut else None, cut), []).append(local)
    kind = "sum" if math.isfinite(p) else "max" if p > 0 else "min"
    parts = []
    for (mesh, dims), held in by.items():
        part = _power(held, p)
        for dim in dims:
            part = reduced(part, Partial(kind), mesh, dim)
        parts.append(part.to(tensors[0].device))
    joined = taeda.stack(parts)
    if not math.isfinite(p):
        made = joined.max() if p > 0 else joined.min()
    else:
        made = joined.sum() if p == 0 else joined.sum() ** (1 / p)
    return made.to(_local(tensors[0]).dtype)


def _whole_terms(value: Tensor) -> tuple[Tensor, Spec | None]:
    """A tensor without terms of a sum."""
    if not isinstance(value, DTensor):
        return value, None
    spec = value._spec
    if spec.is_partial:
        places = [Replicate() if place.is_partial() else place for place in spec.placements]
        target = spec.moved(places)
        return redistributed(value._local, spec, target), target
    return value._local, spec


def _power(tensors: Sequence[Tensor], p: float) -> Tensor:
    """The sum of p-th powers; for infinite p the largest or least absolute value."""
    held = [t for t in tensors if t.numel()]
    if not held:
        least = 0.0 if math.isfinite(p) or p > 0 else math.inf
        return taeda.full((), least, dtype=taeda.float64, device=tensors[0].device)
    norm = taeda.linalg.vector_norm(
        taeda.stack([taeda.linalg.vector_norm(t, p).double() for t in held]), p
    )
    if p == 0:
        return taeda.stack([(t != 0).sum() for t in held]).sum().double()
    return norm**p if math.isfinite(p) else norm
