"""Averages of parameters over a group."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import taeda
from taeda import Tensor

from ..._collectives import all_reduce
from ..._groups.world import the_group

__all__ = ["average_parameters", "average_parameters_or_parameter_groups", "get_params_to_average"]


def get_params_to_average(params: Iterable[Any]) -> list[Tensor]:
    """Parameters that have a gradient, from parameters or groups of them as optimizers have.

    >>> from taeda import nn
    >>> layer, frozen = nn.Linear(2, 1, bias=False), nn.Linear(2, 1)
    >>> layer(taeda.ones(1, 2)).sum().backward()
    >>> found = get_params_to_average([*layer.parameters(), *frozen.parameters()])
    >>> [param is layer.weight for param in found]
    [True]
    """
    found: list[Tensor] = []
    for param in params:
        if isinstance(param, Tensor):
            inner = [param]
        elif isinstance(param, dict):
            inner = param["params"]
        else:
            raise NotImplementedError(
                f"parameters are tensors or dicts with 'params', not {type(param).__name__}"
            )
        found += [one for one in inner if one.grad is not None]
    return found


def average_parameters(params: Iterable[Tensor], process_group: Any = None) -> None:
    """Every parameter becomes its mean over the group.

    >>> from taeda import distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> weight = taeda.tensor([1.0, 2.0], requires_grad=True)
    >>> average_parameters([weight])
    >>> weight.detach()  # the mean over all ranks, here one
    tensor([1., 2.])
    >>> dist.destroy_process_group()
    """
    every = list(params)
    group = the_group(process_group, "average_parameters")
    if group is None or not every:
        return
    for dtype in dict.fromkeys(param.dtype for param in every):
        some = [param for param in every if param.dtype == dtype]
        joined = taeda.cat([param.detach().reshape(-1) for param in some]).div_(group.size())
        all_reduce(joined, group=group)
        for param, piece in zip(some, joined.split([p.numel() for p in some]), strict=True):
            param.detach().copy_(piece.view(param.shape))


def average_parameters_or_parameter_groups(params: Iterable[Any], process_group: Any) -> None:
    """`average_parameters` of those that have a gradient.

    >>> from taeda import distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> weight = taeda.tensor([1.0, 2.0], requires_grad=True)
    >>> optimizer = taeda.optim.SGD([weight], lr=0.1)
    >>> weight.sum().backward()
    >>> average_parameters_or_parameter_groups(optimizer.param_groups, None)
    >>> weight.detach()
    tensor([1., 2.])
    >>> dist.destroy_process_group()
    """
    average_parameters(get_params_to_average(params), process_group)
