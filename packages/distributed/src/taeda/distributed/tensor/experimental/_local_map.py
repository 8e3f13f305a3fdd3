"""A function over plain tensors, called with the parts of DTensors."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from taeda import Tensor
from taeda._core_api.trees import tree_flatten, tree_unflatten

from ...device_mesh import DeviceMesh
from .._api import DTensor
from ..placement_types import Placement

__all__ = ["local_map"]


def local_map(
    func: Callable[..., Any] | None = None,
    out_placements: Any = None,
    in_placements: Any = None,
    in_grad_placements: Any = None,
    device_mesh: DeviceMesh | None = None,
    *,
    redistribute_inputs: bool = False,
) -> Callable[..., Any]:
    """`func`, called with this rank's parts; what it returns are parts of DTensors again.

    `out_placements` are those of its result, or a tuple with those of each result (None for one that is
    no tensor). `in_placements` are those that each argument must have, with None for any: ValueError
    for others, unless `redistribute_inputs`. `in_grad_placements` say how the gradients of the parts
    lie. Without a DTensor among the arguments `func` is called as it is. AssertionError for DTensors
    of different meshes, and for placements of a result that is no tensor.

    >>> from taeda.distributed.tensor import Shard
    >>> from taeda.distributed.tensor.experimental import local_map
    >>> double = local_map(lambda x: x * 2, out_placements=[Shard(0)])
    """
    if func is None:
        return functools.partial(
            local_map,
            out_placements=out_placements,
            in_placements=in_placements,
            in_grad_placements=in_grad_placements,
            device_mesh=device_mesh,
            redistribute_inputs=redistribute_inputs,
        )

    @functools.wraps(func)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        flat, tree = tree_flatten(args)
        mesh = _mesh(flat, device_mesh)
        if mesh is None:
            return func(*args, **kwargs)
        _check_count(in_placements, flat, "in_placements")
        _check_count(in_grad_placements, flat, "in_grad_placements")
        parts = [
            _part(
                value,
                _at(in_placements, place),
                _at(in_grad_placements, place),
                redistribute_inputs,
            )
            for place, value in enumerate(flat)
        ]
        made, shape = tree_flatten(func(*tree_unflatten(parts, tree), **kwargs))
        wanted = _of_results(out_placements, len(made))
        return tree_unflatten(
            [_whole(value, place, mesh) for value, place in zip(made, wanted, strict=True)], shape
        )

    return mapped


def _mesh(flat: Sequence[Any], mesh: DeviceMesh | None) -> DeviceMesh | None:
    found = [value.device_mesh for value in flat if isinstance(value, DTensor)]
    if not found:
        return None
    mesh = mesh or found[0]
    for other in found:
        assert other == mesh, f"local_map: a DTensor lies on {other}, and {mesh} is wanted"
    return mesh


def _check_count(placements: Any, flat: Sequence[Any], name: str) -> None:
    if placements is not None:
        assert len(placements) == len(flat), (
            f"local_map: {len(placements)} {name} for {len(flat)} arguments"
        )


def _at(placements: Any, place: int) -> Any:
    return None if placements is None else placements[place]


def _part(value: Any, wanted: Any, gradient: Any, redistributes: bool) -> Any:
    if not isinstance(value, DTensor):
        assert not (wanted is not None and not isinstance(value, Tensor)), (
            f"local_map: placements {wanted} of {value!r}, which is no tensor"
        )
        return value
    if wanted is not None and tuple(wanted) != value.placements:
        if not redistributes:
            raise ValueError(
                f"local_map: an argument lies as {value.placements}, and {tuple(wanted)} is wanted: give "
                "redistribute_inputs=True, or redistribute it before"
            )
        value = value.redistribute(placements=wanted)
    return value.to_local(grad_placements=gradient)


def _of_results(placements: Any, count: int) -> list[Any]:
    """The placements of each result: those of one alone may stand without a tuple around."""
    single = placements is not None and all(isinstance(one, Placement) for one in placements)
    each = (
        [placements] * count if placements is None or (single and count <= 1) else list(placements)
    )
    if single and count > 1:
        each = [placements] * count
    assert len(each) == count, f"local_map: {len(each)} out_placements for {count} results"
    return each


def _whole(value: Any, placements: Any, mesh: DeviceMesh) -> Any:
    if isinstance(value, Tensor) and not isinstance(value, DTensor):
        return value if placements is None else DTensor.from_local(value, mesh, placements)
    assert placements is None, (
        f"local_map: placements {placements} of {value!r}, which is no tensor"
    )
    return value
