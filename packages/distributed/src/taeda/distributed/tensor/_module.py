"""Modules whose parameters become DTensors, and functions around their forwards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from taeda import nn

from .._replaced import replace
from ..device_mesh import DeviceMesh
from ._api import DTensor, check_mesh, distribute_tensor, mesh_or_current

__all__ = ["distribute_module", "put_parameter"]


def put_parameter(module: nn.Module, name: str, value: DTensor, call: str) -> None:
    """Register a DTensor as the parameter; the one before tells its holders."""
    before = module._parameters[name]
    assert before is not None
    made: Any = value
    if not isinstance(value, nn.Parameter):
        made = nn.Parameter(value, before.requires_grad)
    if before is not made:
        replace(before, call)
    module._parameters[name] = made


def distribute_module(
    module: nn.Module,
    device_mesh: DeviceMesh | None = None,
    partition_fn: Callable[[str, nn.Module, DeviceMesh], None] | None = None,
    input_fn: Callable[..., Any] | None = None,
    output_fn: Callable[..., Any] | None = None,
) -> nn.Module:
    """Make the parameters and buffers of a module DTensors. In place; the module is returned.

    Make optimizers afterwards: RuntimeError from those that hold the parameters before. RuntimeError for
    a second call.

    Args:
        module: the module, which is changed.
        device_mesh: the ranks; None is the mesh of the `with` around.
        partition_fn: called as `partition_fn(name, part, mesh)` for every part of it, may
            register DTensors; what it leaves is whole on every rank. None leaves all.
        input_fn: called as `input_fn(module, inputs, mesh)`, gives the inputs of the forward;
            None leaves them.
        output_fn: called as `output_fn(module, outputs, mesh)`, gives the outputs; None leaves
            them.

    >>> from taeda import distributed as dist, nn
    >>> from taeda.distributed.tensor import distribute_module
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> mesh = dist.init_device_mesh("cpu", (1,))
    >>> layer = distribute_module(nn.Linear(2, 3), mesh)
    >>> layer.weight.placements
    (Replicate(),)
    >>> dist.destroy_process_group()
    """
    mesh = check_mesh(mesh_or_current(device_mesh, "distribute_module"), "distribute_module")
    if not isinstance(module, nn.Module):
        raise TypeError(f"distribute_module takes a Module, not {type(module).__name__}")
    if getattr(module, "_distribute_module_applied", False):
        raise RuntimeError("distribute_module was called for this module before")
    for name, part in module.named_modules():
        if partition_fn is not None:
            before = dict(part._parameters)
            partition_fn(name, part, mesh)
            for key, param in before.items():
                now = part._parameters.get(key)
                if param is not None and now is not param and not isinstance(param, DTensor):
                    replace(param, "distribute_module")
        _replicate_rest(part, mesh)
    if input_fn is not None:
        module.register_forward_pre_hook(lambda part, inputs: input_fn(part, inputs, mesh))
    if output_fn is not None:
        module.register_forward_hook(lambda part, inputs, out: output_fn(part, out, mesh))
    module._distribute_module_applied = True
    return module


def _replicate_rest(part: nn.Module, mesh: DeviceMesh) -> None:
    for name, param in list(part._parameters.items()):
        if param is not None and not isinstance(param, DTensor):
            put_parameter(part, name, distribute_tensor(param, mesh), "distribute_module")
    for name, buffer in list(part._buffers.items()):
        if buffer is not None and not isinstance(buffer, DTensor):
            part._buffers[name] = distribute_tensor(buffer, mesh)
