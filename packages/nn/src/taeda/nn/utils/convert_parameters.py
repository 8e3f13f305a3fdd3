"""All parameters in one vector, and back."""

from __future__ import annotations

from collections.abc import Iterable

import taeda
from taeda import Tensor

__all__ = ["parameters_to_vector", "vector_to_parameters"]


def _check_devices(parameters: list[Tensor]) -> None:
    devices = {str(p.device) for p in parameters}
    if len(devices) > 1:
        raise TypeError(
            f"Found parameters on different devices, this is currently not supported: {sorted(devices)}"
        )


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """The elements of all parameters one after the other. Raises TypeError if they are on several devices.

    Args:
        parameters: tensors on one device.

    >>> parameters_to_vector([taeda.ones(2), taeda.zeros(1, 1)])
    tensor([1., 1., 0.])
    """
    parameters = list(parameters)
    _check_devices(parameters)
    return taeda.cat([p.reshape(-1) for p in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Set the parameters from a vector, whose memory they share from then on.

    Raises TypeError if `vec` is no tensor, RuntimeError if it is too short.

    Args:
        vec: 1-D, with at least as many elements as all parameters.
        parameters: the tensors that are set.

    >>> param = taeda.nn.Parameter(taeda.zeros(2))
    >>> vector_to_parameters(taeda.tensor([1.0, 2.0]), [param])
    >>> param.detach()
    tensor([1., 2.])
    """
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected taeda.Tensor, but got: {type(vec).__name__}")
    parameters = list(parameters)
    _check_devices(parameters)
    start = 0
    for param in parameters:
        count = param.numel()
        param.data = vec[start : start + count].view_as(param).data
        start += count
