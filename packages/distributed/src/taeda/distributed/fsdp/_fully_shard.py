"""fully_shard: a module whose parameters lie in shards on the ranks of a mesh."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from taeda import Tensor, nn

from .._replaced import is_replaced
from .._setup import get_world_size
from ..device_mesh import DeviceMesh, init_device_mesh
from ..tensor._api import DTensor, check_mesh
from ._unit import Unit

__all__ = ["FSDPModule", "fully_shard"]

_classes: dict[type, type] = {}


class FSDPModule:
    """What the class of a module becomes besides its own by `fully_shard`."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The module's forward, with whole parameters."""
        unit: Unit = self.__dict__["_fsdp_unit"]
        with unit.forward():
            outputs = super().__call__(*args, **kwargs)  # type: ignore[misc]  # a Module comes next
        return unit.watch(outputs)


def fully_shard(
    module: nn.Module,
    *,
    mesh: DeviceMesh | None = None,
    reshard_after_forward: bool | None = None,
) -> Any:
    """Keep of each parameter only this rank's rows. In place; the module is returned.

    Call it on parts first (each layer of a transformer, say), then on the whole: every call makes a
    unit of the parameters that no call before took. A unit is gathered before its forward and, as
    its weights are not kept, again in backward, where its gradients become the shards of the mean
    over ranks. So a process holds its shards and the whole parameters of one unit. Parameters
    become DTensors; make the optimizer afterwards. Each rank cuts its own values: give all ranks
    the same, by a seed or a checkpoint.

    `mesh` has one dimension; by default all ranks. `reshard_after_forward=False` keeps the whole
    parameters until backward, which saves a collective; by default the outermost unit does so.
    """
    _check(module, reshard_after_forward)
    if mesh is None:
        mesh = init_device_mesh("cpu", (get_world_size(),))
    mesh = check_mesh(mesh, "fully_shard")
    if mesh.ndim != 1:
        raise ValueError(
            f"fully_shard: the mesh has {mesh.ndim} dimensions, and this release takes one"
        )
    places: dict[int, list[tuple[nn.Module, str]]] = {}
    params: dict[int, Tensor] = {}
    for name, owner, key, param in _own_parameters(module):
        _check_parameter(name, param)
        params[id(param)] = param
        places.setdefault(id(param), []).append((owner, key))
    _check_alike(params.values())
    unit = Unit(list(places.values()), list(params.values()), mesh, reshard_after_forward)
    _rename(module)
    module.__dict__["_fsdp_unit"] = unit
    return module


def _check(module: Any, reshard: Any) -> None:
    if not isinstance(module, nn.Module):
        raise TypeError(
            f"fully_shard takes a Module, not {type(module).__name__}: call it for each of several"
        )
    if isinstance(module, (nn.ModuleList, nn.ModuleDict, nn.ParameterList, nn.ParameterDict)):
        raise ValueError(
            f"fully_shard does not support a {type(module).__name__}, which has no forward: call it for "
            "what is in it"
        )
    if isinstance(module, FSDPModule):
        raise ValueError("fully_shard was called for this module before")
    if reshard is not None and not isinstance(reshard, bool):
        raise TypeError(
            f"reshard_after_forward is True, False or None in this release, not {reshard!r}"
        )


def _own_parameters(module: nn.Module) -> Iterator[tuple[str, nn.Module, str, Tensor]]:
    """The parameters that no unit has, with every place where a module has them."""
    for prefix, owner in module.named_modules():
        for key, param in owner._parameters.items():
            if param is not None and not isinstance(param, DTensor):
                yield f"{prefix}.{key}".removeprefix("."), owner, key, param


def _check_parameter(name: str, param: Tensor) -> None:
    if is_replaced(param):
        raise ValueError(
            f"{name} is shared with a module for which fully_shard was called alone: call it for one "
            "module that holds both"
        )
    if param.ndim == 0:
        raise ValueError(f"{name} has no dimension to cut: give it one, of size 1")
    if param.device.type != "cpu":
        hint = ": call to_empty and give it values first" if param.device.type == "meta" else ""
        raise ValueError(f"{name} is on {param.device}, and meshes are of processors{hint}")


def _check_alike(params: Any) -> None:
    dtypes = {param.dtype for param in params}
    if len(dtypes) > 1:
        raise ValueError(
            f"the parameters of a unit have one dtype, not {', '.join(sorted(map(str, dtypes)))}: call "
            "fully_shard for the modules of each"
        )
    for dtype in dtypes:
        if not dtype.is_floating_point:
            raise ValueError(f"the parameters of a unit are floating point, not {dtype}")


def _rename(module: nn.Module) -> None:
    kind = type(module)
    if kind not in _classes:
        _classes[kind] = type(
            f"FSDP{kind.__name__}", (FSDPModule, kind), {"__module__": kind.__module__}
        )
    module.__class__ = _classes[kind]
