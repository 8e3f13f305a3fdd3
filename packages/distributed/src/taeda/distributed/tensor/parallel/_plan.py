"""A plan: which layers of a module are cut, and how."""

from __future__ import annotations

import difflib
import fnmatch
from collections.abc import Iterator, Mapping
from typing import Any

from taeda import nn
from taeda._core_api import warn

from ...device_mesh import DeviceMesh
from .._api import check_mesh, mesh_or_current
from ._styles import ParallelStyle

__all__ = ["parallelize_module"]


def parallelize_module(
    module: nn.Module,
    device_mesh: DeviceMesh | None = None,
    parallelize_plan: ParallelStyle | Mapping[str, ParallelStyle] | None = None,
    *,
    src_data_rank: int | None = 0,
) -> nn.Module:
    """Cut layers of a module over a mesh of one dimension. In place; the module is returned.

    The plan is a style for the module itself, or styles by the names of its parts; in a name `*` and
    `?` stand for any part and any letter of one segment. Parameters are those of rank
    `src_data_rank`; with None each rank cuts its own. A key that no part has, and no plan, are told
    by a warning. Make optimizers afterwards: those that hold the parameters before raise RuntimeError.
    ValueError for a mesh of several dimensions, TypeError for what is no style.

    Args:
        module: the module, whose layers are changed.
        device_mesh: a mesh of one dimension; None is that of the `with` around.
        parallelize_plan: a style, or styles by names of parts; None changes nothing and warns.
        src_data_rank: whose parameters are taken: 0 by default. None takes each rank's own.

    >>> from taeda.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel
    >>> plan = {"layers.*.w1": ColwiseParallel(), "layers.*.w2": RowwiseParallel()}
    """
    mesh = check_mesh(mesh_or_current(device_mesh, "parallelize_module"), "parallelize_module")
    if mesh.ndim != 1:
        raise ValueError(
            f"parallelize_module: the mesh has {mesh.ndim} dimensions: give one of them, such as "
            'mesh["tp"]'
        )
    if parallelize_plan is None:
        warn("parallelize_module: no parallelize_plan, so nothing is cut")
        return module
    if isinstance(parallelize_plan, ParallelStyle):
        parallelize_plan.src_data_rank = src_data_rank
        return parallelize_plan._apply(module, mesh)
    if not isinstance(parallelize_plan, Mapping):
        raise TypeError(
            "parallelize_plan is a ParallelStyle, or a dict of them by names of modules, not "
            f"{type(parallelize_plan).__name__}"
        )
    for key, style in parallelize_plan.items():
        _check_style(key, style)
    for key, style in parallelize_plan.items():
        found = list(_matches(module, key.split(".") if key else []))
        if not found:
            warn(f"parallelize_module: no module is called {key!r}{_nearest(module, key)}")
        for part in found:
            parallelize_module(part, mesh, style, src_data_rank=src_data_rank)
    return module


def _check_style(key: Any, style: Any) -> None:
    if not isinstance(key, str):
        raise TypeError(f"parallelize_plan: a key is the name of a module, not {key!r}")
    if not isinstance(style, (ParallelStyle, Mapping)):
        raise TypeError(f"parallelize_plan[{key!r}] is a ParallelStyle, not {type(style).__name__}")


def _matches(module: nn.Module, segments: list[str]) -> Iterator[nn.Module]:
    """The parts under a name of which each segment may have wild cards."""
    if not segments:
        yield module
        return
    for name, part in module.named_children():
        if fnmatch.fnmatchcase(name, segments[0]):
            yield from _matches(part, segments[1:])


def _nearest(module: nn.Module, key: str) -> str:
    names = [name for name, _ in module.named_modules() if name]
    near = difflib.get_close_matches(key, names, 3)
    return f": did you mean {', '.join(near)}?" if near else f"; there are {', '.join(names[:8])}"
