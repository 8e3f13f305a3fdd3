"""Memory shared with other array libraries through DLPack, version 1 and the form before it.

`from_dlpack` and `Tensor.__dlpack__` are the two ends of the array API standard's exchange; the cpu
and CUDA devices take part. Whoever gives memory of a device lets the other's stream wait.
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
    """DLPack's numbers for kinds of devices.

    >>> kind, index = taeda.ones(1).__dlpack_device__()
    >>> taeda.utils.dlpack.DLDeviceType(kind).name, index
    ('kDLCPU', 0)
    """

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

    RuntimeError for what is no fresh capsule, BufferError for memory or types that cannot be
    reached, ValueError for an axis that runs backwards. Memory that must not be written is shared
    with a warning.

    Args:
        ext_tensor: an array of any library that has `__dlpack__`, or a capsule that nobody took.
        device: where the result lies; None (the default) for where the memory is. Only for objects
            with `__dlpack__`, AssertionError with a capsule.
        copy: True copies, False raises where a copy would be needed, None (the default) copies
            where it must. Only for objects with `__dlpack__`, too.

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
    moves = target is not None and _place(target) != tuple(here)
    if moves and copy is False:
        raise ValueError(
            f"cannot move memory from DLPack device {tuple(here)} to {target} without copying: use copy=None"
        )
    asked: dict[str, Any] = {"max_version": (1, 0)}
    if here[0] == DLDeviceType.kDLCUDA:
        asked["stream"] = _stream(here[1])
    if target is not None and target.type == "cpu":
        asked["dl_device"] = _CPU  # the producer may be able to copy
        moves = False
    if copy is not None and not moves:
        asked["copy"] = copy
    capsule, answered = _ask(producer, asked)
    made = _from_capsule(capsule, above=4)
    if moves or (target is not None and made.device.type != target.type):
        return made.to(target)
    return made.clone() if copy and "copy" not in answered else made


def _place(device: Any) -> Place:
    if device.type == "cuda":
        return DLDeviceType.kDLCUDA, device.index
    return _CPU if device.type == "cpu" else (DLDeviceType.kDLExtDev, 0)


def _stream(ordinal: int) -> int:
    """This thread's stream of a device, in DLPack's numbers: 1 is the default stream."""
    _core.device("cuda", ordinal)  # opens it
    return _core.cuda_stream_get(ordinal) or 1


def _ask(producer: Any, asked: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """A capsule, and what of `asked` the producer understood: older ones know fewer words."""
    for word in ("max_version", "copy", "dl_device", "stream"):
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
    _check(tensor, stream)
    source = _at(tensor, dl_device, copy)
    if tensor.device.type == "cuda" and source.device == tensor.device:
        _follow(tensor.device.index or 0, stream)
    return _core.to_dlpack(source, max_version is not None and max_version[0] >= 1, bool(copy))


def _at(tensor: Tensor, dl_device: Place | None, copy: bool | None) -> Tensor:
    """The tensor, or a copy where one was asked for, or is needed for the device."""
    here = _place(tensor.device)
    if dl_device is None or tuple(dl_device) == here:
        return tensor.clone() if copy else tensor
    if tuple(dl_device) == _CPU and copy is not False:
        return tensor.cpu()
    raise BufferError(
        f"a tensor of {tensor.device} cannot be exported to DLPack device {tuple(dl_device)}: "
        f"{tuple(map(int, here))} is there{'' if here == _CPU else ', and a copy on the cpu, (1, 0)'}"
    )


def _follow(ordinal: int, stream: int | None) -> None:
    """The consumer's stream (None and 1: the default one) waits for what ours has now. -1: the
    consumer orders the streams itself.
    """
    theirs = 0 if stream in (None, 1) else stream
    ours = _core.cuda_stream_get(ordinal)
    if theirs == -1 or theirs == ours:
        return
    from taeda.cuda import ExternalStream, current_stream

    ExternalStream(theirs or 0, ordinal).wait_stream(current_stream(ordinal))


def _check(tensor: Tensor, stream: int | None) -> None:
    if tensor.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    if stream is not None and type(stream) is not int:
        raise TypeError(f"stream must be an int or None, got {type(stream).__name__}")
    if tensor.device.type == "cuda":
        if stream is not None and (stream == 0 or stream < -1):
            raise AssertionError(
                f"stream is -1, 1 (the default), 2 (each thread's), or an address, got {stream}"
            )
    elif stream not in (None, -1):
        raise AssertionError(f"stream should be None on cpu, got {stream}: the cpu has no streams")


def device_of(tensor: Tensor) -> Place:
    """DLPack's kind and number of the device of `tensor`."""
    if has_torch_function_unary(tensor):
        place: Place = handle_torch_function(Tensor.__dlpack_device__, (tensor,), tensor)
        return place
    if tensor.device.type not in ("cpu", "cuda"):
        raise ValueError(f"Unknown device type {tensor.device.type} for DLPack")
    return _place(tensor.device)
