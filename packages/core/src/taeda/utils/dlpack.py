"""Memory shared with other array libraries through DLPack, version 1 and the form before it.

`from_dlpack` and `Tensor.__dlpack__` are the two ends of the array API standard's exchange; only
the cpu takes part.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any

from taeda._native import core as _core
from taeda._warnings import warn
from taeda.overrides import handle_torch_function, has_torch_function_unary

if TYPE_CHECKING:
    from taeda import Device, Tensor
else:
    Tensor = _core.Tensor

__all__ = ["DLDeviceType", "from_dlpack", "to_dlpack"]

Place = tuple[int, int]


class DLDeviceType(enum.IntEnum):
    """DLPack's numbers for kinds of devices."""

    kDLCPU = 1
    kDLCUDA = 2
    kDLCUDAHost = 3
    kDLOpenCL = 4
    kDLVulkan = 7
    kDLMetal = 8
    kDLVPI = 9
    kDLROCM = 10
    kDLROCMHost = 11
    kDLExtDev = 12
    kDLCUDAManaged = 13
    kDLOneAPI = 14
    kDLWebGPU = 15
    kDLHexagon = 16
    kDLMAIA = 17


_CPU: Place = (DLDeviceType.kDLCPU, 0)


def to_dlpack(tensor: Tensor) -> Any:
    """A capsule of the form before version 1 on the memory of `tensor`; `from_dlpack` may take it once.

    BufferError for meta tensors, conj and negative bits, and dtypes that DLPack has not. A gradient
    is not carried along.

    >>> from_dlpack(to_dlpack(taeda.arange(3)))
    tensor([0, 1, 2])
    """
    return _core.to_dlpack(tensor, False, False)


def from_dlpack(
    ext_tensor: Any, *, device: Device | None = None, copy: bool | None = None
) -> Tensor:
    """A tensor on the memory of `ext_tensor`, an object with `__dlpack__` or a capsule: writes to
    one are seen in the other.

    `copy=True` copies, `copy=False` raises where the producer would have to. `device` is where the
    result lies. RuntimeError for what is no fresh capsule, BufferError for memory or types that
    cannot be reached, ValueError for an axis that runs backwards. Memory that must not be written
    is shared with a warning.

    >>> import numpy as np
    >>> array = np.zeros(2)
    >>> from_dlpack(array)[0] = 5
    >>> array.tolist()
    [5.0, 0.0]
    """
    if hasattr(ext_tensor, "__dlpack__"):
        return _from_object(ext_tensor, device, copy)
    if device is not None or copy is not None:
        raise AssertionError(
            "from_dlpack: device and copy are for objects with __dlpack__, not for a capsule"
        )
    return _from_capsule(ext_tensor)


def _from_object(producer: Any, device: Device | None, copy: bool | None) -> Tensor:
    target = None if device is None else _core.device(device)
    here: Place = producer.__dlpack_device__()
    moves = target is not None and target.type != "cpu"
    if moves and copy is False:
        raise ValueError(
            f"cannot move memory from DLPack device {tuple(here)} to {target} without copying: use copy=None"
        )
    asked: dict[str, Any] = {"max_version": (1, 0)}
    if target is not None and not moves:
        asked["dl_device"] = _CPU
    if copy is not None and not moves:
        asked["copy"] = copy
    capsule, answered = _ask(producer, asked)
    made = _from_capsule(capsule, above=4)
    if moves:
        return made.to(target)
    return made.clone() if copy and "copy" not in answered else made


def _ask(producer: Any, asked: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """A capsule, and what of `asked` the producer understood: older ones know fewer words."""
    for word in ("max_version", "copy", "dl_device"):
        try:
            return producer.__dlpack__(**asked), asked
        except TypeError:
            if not asked:
                raise
            asked = {k: v for k, v in asked.items() if k != word}
    return producer.__dlpack__(**asked), asked


def _from_capsule(capsule: Any, above: int = 3) -> Tensor:
    """Take a capsule; `above`: how many frames above this one the caller stands."""
    made, read_only = _core.from_dlpack(capsule)
    if read_only:
        warn(
            "The given memory is marked as not writable: a write to the tensor would change what "
            "must not change. "
            "Use copy=True to protect it.",
            UserWarning,
        )
    return made


# ---- what Tensor.__dlpack__ and Tensor.__dlpack_device__ do ----


def export(
    tensor: Tensor,
    stream: int | None,
    max_version: tuple[int, int] | None,
    dl_device: Place | None,
    copy: bool | None,
) -> Any:
    """A capsule on the memory of `tensor` (or on a copy of it), as `Tensor.__dlpack__` promises."""
    if has_torch_function_unary(tensor):
        words = {"stream": stream, "max_version": max_version, "dl_device": dl_device, "copy": copy}
        return handle_torch_function(Tensor.__dlpack__, (tensor,), tensor, **words)
    _check(tensor, stream, dl_device)
    source = tensor.clone() if copy else tensor
    return _core.to_dlpack(source, max_version is not None and max_version[0] >= 1, bool(copy))


def _check(tensor: Tensor, stream: int | None, dl_device: Place | None) -> None:
    if tensor.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    if stream is not None and type(stream) is not int:
        raise TypeError(f"stream must be an int or None, got {type(stream).__name__}")
    if stream not in (None, -1):
        raise AssertionError(f"stream should be None on cpu, got {stream}: the cpu has no streams")
    if dl_device is not None and tuple(dl_device) != _CPU:
        raise BufferError(
            f"a cpu tensor cannot be exported to DLPack device {tuple(dl_device)}: only "
            f"{tuple(map(int, _CPU))}, the cpu, is there"
        )


def device_of(tensor: Tensor) -> Place:
    """DLPack's kind and number of the device of `tensor`."""
    if has_torch_function_unary(tensor):
        place: Place = handle_torch_function(Tensor.__dlpack_device__, (tensor,), tensor)
        return place
    if tensor.device.type != "cpu":
        raise ValueError(f"Unknown device type {tensor.device.type} for DLPack")
    return _CPU
