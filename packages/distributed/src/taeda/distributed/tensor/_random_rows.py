"""Rows that draw: the numbers are those of one device, bit for bit, however the tensor is cut.

Every rank draws the whole and keeps its part, so generators stay in step. In a world of threads,
which share the default generator, the first rank of the mesh draws for all.
"""

from __future__ import annotations

import threading
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api.table import rows

from .._collectives import broadcast
from .._setup import get_backend
from ..device_mesh import DeviceMesh, device_of
from ._api import DTensor
from ._redistribute import redistributed
from ._spec import Spec
from .placement_types import Placement, Replicate

__all__ = ["drawn", "draws", "run"]

_threads = threading.Lock()

#: rows without the mark in the table that draw all the same
MORE = frozenset("rand_like randn_like randint_like".split())


def draws(row: str) -> bool:
    """Does the row draw?"""
    found = rows().get(row)
    return (found is not None and found.random) or row.partition(".")[0] in MORE


def run(func: Any, name: str, args: Any, kwargs: Any, mesh: DeviceMesh) -> Any:
    """Compute a row that draws."""
    if name == "native_dropout":
        return _dropout(func, args, kwargs, mesh)
    first = next(value for value in (*args, *kwargs.values()) if isinstance(value, DTensor))
    in_place = name.endswith("_")
    if in_place and first._spec.is_partial:
        raise RuntimeError(
            f"{name} cannot write terms of a sum: {first._spec}. Redistribute it first"
        )
    wholes = [_whole(value) for value in args]
    named = {key: _whole(value) for key, value in kwargs.items()}
    made = drawn(lambda: func(*wholes, **named), mesh, named.get("generator"))
    if not in_place:
        places: list[Placement] = [p if p.is_shard() else Replicate() for p in first.placements]
        return _kept(made, first, places)
    part = redistributed(made, first._spec.whole(), first._spec)
    first._local.copy_(part)
    return first


def drawn(draw: Any, mesh: DeviceMesh, generator: Any = None) -> Any:
    """What `draw()` gives, the same on every rank of the mesh."""
    if generator is not None or get_backend(mesh.get_group(0)) != "inproc":
        _in_step(mesh, generator)
        return draw()
    leads = not any(mesh.get_coordinate() or ())
    with _threads:  # they share the generator, which moves once
        before = taeda.get_rng_state()
        made = draw()
        if not leads:
            taeda.set_rng_state(before)
    for dim in range(mesh.ndim):
        for one in made if isinstance(made, (list, tuple)) else (made,):
            if one.numel():
                held = one.to(taeda.uint8) if one.dtype is taeda.bool else one
                broadcast(held, group=mesh.get_group(dim), group_src=0)
                if held is not one:
                    one.copy_(held)
    return made


def _in_step(mesh: DeviceMesh, generator: Any) -> None:
    """The default generators of the mesh become that of its first rank, at its first draw."""
    if generator is not None or mesh._in_step:
        return
    mesh._in_step = True
    state = taeda.get_rng_state().to(device_of(mesh))
    for dim in range(mesh.ndim):
        broadcast(state, group=mesh.get_group(dim), group_src=0)
    taeda.set_rng_state(state.cpu())


def _whole(value: Any) -> Any:
    if isinstance(value, DTensor):
        return redistributed(value._local, value._spec, value._spec.whole()).clone()
    return value


def _kept(made: Any, like: DTensor, places: list[Placement]) -> Any:
    if isinstance(made, (list, tuple)):
        return tuple(_kept(one, like, places) for one in made)
    mesh = like._spec.mesh
    whole = Spec.of(mesh, [Replicate()] * mesh.ndim, made.shape)
    if tuple(made.shape) != tuple(like.shape):
        return DTensor(made, whole)
    target = Spec.of(mesh, places, made.shape, like._spec.order)
    return DTensor(redistributed(made, whole, target), target)


def _dropout(func: Any, args: Any, kwargs: Any, mesh: DeviceMesh) -> Any:
    """The mask of the whole, and this rank's part of it."""
    x, p, train = args
    places = [Replicate() if place.is_partial() else place for place in x.placements]
    target = x._spec.moved(places)
    local = redistributed(x._local, x._spec, target)

    def draw() -> Tensor:
        ones = taeda.ones(x.shape, dtype=x.dtype, device=x.device)
        mask: Tensor = func(ones, p, train, **kwargs)[1]
        return mask

    mask = redistributed(drawn(draw, mesh, kwargs.get("generator")), target.whole(), target)
    if train is False:
        return DTensor(local.clone(), target), DTensor(mask, target)
    scale = 0.0 if p == 1 else 1 / (1 - p)
    made = taeda.ops.aten.native_dropout_backward.default(local, mask, scale)
    return DTensor(made, target), DTensor(mask, target)
