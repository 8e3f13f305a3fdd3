"""fully_shard: a module whose parameters lie in shards on the ranks of a mesh."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import taeda
from taeda import Tensor, nn

from .._groups.world import the_group
from .._replaced import is_replaced
from .._setup import get_process_group_ranks, get_world_size, new_group
from ..device_mesh import DeviceMesh, device_of, init_device_mesh
from ..tensor._api import DTensor, check_mesh
from ..tensor.placement_types import Shard
from ._module import FSDPModule
from ._parameter import Sharded, check_terms
from ._policies import CPUOffloadPolicy, MixedPrecisionPolicy, OffloadPolicy
from ._unit import Unit

__all__ = ["FSDPModule", "fully_shard"]

_classes: dict[type, type] = {}


def fully_shard(
    module: Any,
    *,
    mesh: DeviceMesh | None = None,
    reshard_after_forward: bool | int | None = None,
    shard_placement_fn: Callable[[nn.Parameter], Shard | None] | None = None,
    mp_policy: MixedPrecisionPolicy | None = None,
    offload_policy: OffloadPolicy | None = None,
    ignored_params: set[nn.Parameter] | None = None,
) -> Any:
    """Keep of each parameter only this rank's rows. In place; the module is returned.

    Call it on parts first (each layer of a transformer, say), then on the whole: every call makes a
    unit of the parameters that no call before took; a list of modules is one unit. A unit is gathered
    before its forward and, as its weights are not kept, again in backward, where its gradients become
    the shards of the mean over ranks. So a process holds its shards and the whole parameters of one
    unit. Parameters become DTensors; make the optimizer afterwards. Each rank cuts its own values:
    give all ranks the same, by a seed or a checkpoint. Or make the module on the device meta, where
    nothing takes memory, and call `to_empty(device="cpu")` and its initialisation afterwards: random
    numbers are then those of one process on any mesh.

    Args:
        module: the module, or a list of modules that become one unit.
        mesh: the ranks; None is all, on GPUs where the default group carries their tensors. Of two
            dimensions the first has replicas, the second shards. Parameters that are DTensors of
            tensor parallelism are cut once more.
        reshard_after_forward: True lets whole parameters go after the forward; False keeps them
            until backward, which saves a collective; None is True but for the outermost unit. A
            number is the size of a smaller group over which they lie between forward and
            backward; it divides the number of shards.
        shard_placement_fn: called with each parameter, gives the Shard along which to cut, or
            None for dimension 0. Others than 0 divide by the number of shards, or
            NotImplementedError.
        mp_policy: the dtypes in which the unit computes and adds up; None keeps those of the
            parameters.
        offload_policy: where shards lie while they are not used; None is where the mesh is. On a mesh
            of GPUs parameters and buffers move to the current one; with a CPUOffloadPolicy shards
            are kept by the processor.
        ignored_params: parameters that stay as they are, and are not averaged (default: None).

    >>> from taeda import distributed as dist, nn
    >>> from taeda.distributed.fsdp import fully_shard
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> model = nn.Sequential(nn.Linear(2, 4), nn.Linear(4, 1))
    >>> for layer in model:
    ...     fully_shard(layer)
    FSDPLinear(in_features=2, out_features=4, bias=True)
    FSDPLinear(in_features=4, out_features=1, bias=True)
    >>> optimizer = taeda.optim.SGD(fully_shard(model).parameters(), lr=0.1)
    >>> model(taeda.ones(3, 2)).sum().backward()
    >>> model[0].weight.placements
    (Shard(dim=0),)
    >>> dist.destroy_process_group()
    """
    modules = list(module) if isinstance(module, (list, tuple)) else [module]
    for one in modules:
        _check(one)
    if mesh is None:
        mesh = init_device_mesh(_default_device(), (get_world_size(),))
    mesh = check_mesh(mesh, "fully_shard")
    if mesh.ndim > 2:
        raise ValueError(
            f"fully_shard: the mesh has {mesh.ndim} dimensions, and shards and replicas take two: give "
            'lines of it, such as mesh["dp"]'
        )
    policy = _policy(mp_policy, offload_policy)
    reshard, smaller = _reshard(reshard_after_forward, mesh)
    ignored = {id(param) for param in ignored_params or ()}
    places: dict[int, list[tuple[nn.Module, str]]] = {}
    params: dict[int, tuple[str, Tensor]] = {}
    for name, owner, key, param in _own_parameters(modules):
        if id(param) in ignored:
            continue
        _check_parameter(name, param, mesh)
        if getattr(owner, "sparse", False) and isinstance(owner, (nn.Embedding, nn.EmbeddingBag)):
            raise ValueError(
                f"{name} gets sparse gradients, which are not cut into shards: make the "
                f"{type(owner).__name__} with sparse=False, or give it in ignored_params"
            )
        params.setdefault(id(param), (name, param))
        places.setdefault(id(param), []).append((owner, key))
    _check_alike([param for _, param in params.values()])
    cuts = [(name, param, _dim(name, param, shard_placement_fn)) for name, param in params.values()]
    keep = _keeper(mesh, offload_policy)
    sharded = [Sharded(name, param, mesh, dim, keep) for name, param, dim in cuts]
    unit = Unit(list(places.values()), sharded, mesh, reshard, policy, smaller)
    unit.name = type(modules[0]).__name__ if modules else ""
    for one in modules:
        _move_buffers(one, mesh)
        _rename(one)
        one.__dict__["_fsdp_unit"] = unit
    return module


def _check(module: Any) -> None:
    if not isinstance(module, nn.Module):
        raise TypeError(
            f"fully_shard takes a Module or a list of them, not {type(module).__name__}"
        )
    if isinstance(module, (nn.ModuleList, nn.ModuleDict, nn.ParameterList, nn.ParameterDict)):
        raise ValueError(
            f"fully_shard does not support a {type(module).__name__}, which has no forward: call it for "
            "what is in it"
        )
    if isinstance(module, FSDPModule):
        raise AssertionError("fully_shard was called for this module before")


def _policy(policy: Any, offload: Any) -> MixedPrecisionPolicy:
    if policy is not None and not isinstance(policy, MixedPrecisionPolicy):
        raise TypeError(f"mp_policy is a MixedPrecisionPolicy, not {type(policy).__name__}")
    if offload is not None and not isinstance(offload, OffloadPolicy):
        raise TypeError(f"offload_policy is an OffloadPolicy, not {type(offload).__name__}")
    return policy or MixedPrecisionPolicy()


def _reshard(value: Any, mesh: DeviceMesh) -> tuple[bool | None, Any]:
    """Whether whole parameters go after a forward, and the smaller group over which they lie then."""
    if value is None or isinstance(value, bool):
        return value, None
    if not isinstance(value, int):
        raise TypeError(f"reshard_after_forward is True, False, None or a number, not {value!r}")
    count = mesh.size(mesh.ndim - 1)
    if value < 1 or count % value:
        raise ValueError(
            f"reshard_after_forward={value} does not divide the {count} ranks that the parameters lie on"
        )
    if value == count:
        return True, None
    if value == 1:
        return False, None
    return True, _small_group(mesh, value)


def _small_group(mesh: DeviceMesh, size: int) -> Any:
    """This rank's group of `size` neighbours among those that share a unit."""
    root = mesh._root or mesh
    line = get_process_group_ranks(mesh.get_group(mesh.ndim - 1))
    dim = mesh.ndim - 1
    if root is not mesh and root.mesh_dim_names is not None and mesh.mesh_dim_names is not None:
        dim = root.mesh_dim_names.index(mesh.mesh_dim_names[-1])
    mine = None
    for ranks in root._lines(dim):  # all ranks make all groups, in one order
        for begin in range(0, len(ranks), size):
            part = ranks[begin : begin + size]
            group = new_group(part, group_desc=f"reshard after forward over {size}")
            if set(part) <= set(line) and mesh.get_rank() in part:
                mine = group
    return mine


def _own_parameters(
    modules: Sequence[nn.Module],
) -> Iterator[tuple[str, nn.Module, str, Tensor]]:
    """The parameters that no unit has, with every place where a module has them."""
    for number, module in enumerate(modules):
        start = f"{number}" if len(modules) > 1 else ""
        taken = {
            id(shard)
            for part in module.modules()
            if isinstance(part, FSDPModule)
            for shard in part._unit().shards
        }
        for prefix, owner in module.named_modules():
            for key, param in owner._parameters.items():
                if param is not None and id(param) not in taken:
                    yield ".".join(filter(None, (start, prefix, key))), owner, key, param


def _default_device() -> str:
    """The kind of device of a mesh that nobody gave."""
    group = the_group(None, "fully_shard")
    return "cuda" if group is not None and "cuda" in group.device_types else "cpu"


def _keeper(mesh: DeviceMesh, offload: OffloadPolicy | None) -> Callable[[Tensor], Tensor]:
    """What brings a part of a parameter to where shards lie."""
    device = device_of(mesh)

    def keep(part: Tensor) -> Tensor:
        if part.is_meta or device.type == "cpu":
            return part
        if isinstance(offload, CPUOffloadPolicy):
            return part.cpu().pin_memory() if offload.pin_memory else part.cpu()
        return part.to(device)

    return keep


def _move_buffers(module: nn.Module, mesh: DeviceMesh) -> None:
    device = device_of(mesh)
    for part in module.modules():
        for name, buffer in part._buffers.items():
            if buffer is not None and device.type != "cpu" and buffer.device.type == "cpu":
                part._buffers[name] = buffer.to(device)


def _check_parameter(name: str, param: Tensor, mesh: DeviceMesh) -> None:
    if is_replaced(param):
        raise ValueError(
            f"{name} is shared with a module for which fully_shard was called alone: call it for one "
            "module that holds both"
        )
    if isinstance(param, DTensor):
        check_terms(param, name)
    if param.layout is not taeda.strided:
        raise ValueError(
            f"{name} is a {param.layout} tensor: only strided ones are cut into shards"
        )
    if param.is_quantized:
        raise ValueError(
            f"{name} is quantized: quantize its model after the sharding, or leave it whole"
        )
    if param.ndim == 0:
        raise ValueError(f"{name} has no dimension to cut: give it one, of size 1")
    if param.device.type not in ("cpu", "meta", mesh.device_type):
        raise ValueError(
            f"{name} is on {param.device}, and {mesh} is one of processors: give a mesh of "
            f"{param.device.type!r}, or move the module before"
        )


def _dim(name: str, param: Any, choose: Callable[[Any], Any] | None) -> int:
    place = None if choose is None else choose(param)
    if place is None:
        return 0
    if not isinstance(place, Shard):
        raise TypeError(f"shard_placement_fn({name}) gives a Shard or None, not {place!r}")
    if not -param.ndim <= place.dim < param.ndim:
        raise ValueError(f"shard_placement_fn({name}): {place!r} of {param.ndim} dimensions")
    return place.dim % int(param.ndim)


def _check_alike(params: Sequence[Tensor]) -> None:
    dtypes = {param.dtype for param in params}
    if len(dtypes) > 1:
        raise AssertionError(
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
