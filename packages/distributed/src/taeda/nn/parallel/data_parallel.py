"""The wrapper that splits a batch over the devices of one process. With one device it calls its module."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import taeda
from taeda import nn

__all__ = ["DataParallel", "data_parallel"]


class DataParallel(nn.Module):
    """Calls `module`, which is all there is to do on the processor or one device.

    Kept for programs that wrap their model in it. For several processes use DistributedDataParallel. Raises
    ValueError for more than one device: this release has no replicas inside a process.

    Args:
        module: the module, which is called as it is.
        device_ids: None, or the devices of the one replica: ValueError for several.
        output_device: None, or the one device.
        dim: the dimension of the batch; with one device nothing is parted (default: 0).

    >>> model = taeda.nn.DataParallel(taeda.nn.Linear(3, 2))
    >>> model(taeda.ones(4, 3)).shape, [name for name, _ in model.named_parameters()]
    (taeda.Size([4, 2]), ['module.weight', 'module.bias'])
    """

    def __init__(
        self,
        module: nn.Module,
        device_ids: Sequence[Any] | None = None,
        output_device: Any = None,
        dim: int = 0,
    ) -> None:
        super().__init__()
        _check_devices(device_ids)
        self.module, self.dim = module, dim
        self.device_ids = [] if device_ids is None else list(device_ids)
        self.output_device = output_device

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """What the module returns."""
        return self.module(*inputs, **kwargs)


def data_parallel(
    module: nn.Module,
    inputs: Any,
    device_ids: Sequence[Any] | None = None,
    output_device: Any = None,
    dim: int = 0,
    module_kwargs: dict[str, Any] | None = None,
) -> Any:
    """What `module` returns for `inputs`, a tuple or one input. ValueError for more than one device.

    Args:
        module: the module that is called.
        inputs: a tuple of its arguments, or one argument.
        device_ids: None, or the devices of the one replica: ValueError for several.
        output_device: None, or the one device.
        dim: the dimension of the batch; with one device nothing is parted (default: 0).
        module_kwargs: named arguments; None for none.

    >>> data_parallel(taeda.nn.Identity(), taeda.ones(2)).tolist()
    [1.0, 1.0]
    """
    _check_devices(device_ids)
    args = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
    return module(*args, **(module_kwargs or {}))


def _check_devices(device_ids: Sequence[Any] | None) -> None:
    if device_ids is not None and len({_name(one) for one in device_ids}) > 1:
        raise ValueError(
            f"device_ids {list(device_ids)}: a process has one device here; start a process for "
            "each with taedarun "
            "and use DistributedDataParallel"
        )


def _name(device: Any) -> str:
    """A number is that of an accelerator, whether there is one or not."""
    return f"cuda:{device}" if isinstance(device, int) else str(taeda.device(device))
