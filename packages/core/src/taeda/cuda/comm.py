"""Tensors from one device to several, and back, by copies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from taeda import Tensor

from ._devices import current_device, device_count, ordinal_of

__all__ = [
    "broadcast",
    "broadcast_coalesced",
    "gather",
    "reduce_add",
    "reduce_add_coalesced",
    "scatter",
]


def _places(devices: Sequence[Any] | None) -> list[int]:
    return list(range(device_count())) if devices is None else [ordinal_of(d) for d in devices]


def _moved(tensor: Tensor, ordinal: int) -> Tensor:
    return tensor.to(f"cuda:{ordinal}", non_blocking=True)


def broadcast(
    tensor: Tensor, devices: Sequence[Any] | None = None, *, out: Sequence[Tensor] | None = None
) -> tuple[Tensor, ...]:
    """`tensor` on each of `devices`, or copied into the tensors `out`.
    RuntimeError where both or neither are given.

    Args:
        tensor: what is copied.
        devices: devices or their numbers (default: None).
        out: tensors that are written, in place of `devices`; each of the tensor's shape
            (default: None).

    >>> copy = taeda.zeros(2)
    >>> _ = taeda.cuda.comm.broadcast(taeda.ones(2), out=[copy])
    >>> copy.tolist()
    [1.0, 1.0]
    >>> if taeda.cuda.is_available():
    ...     copies = taeda.cuda.comm.broadcast(taeda.ones(2), range(taeda.cuda.device_count()))
    """
    if (devices is None) == (out is None):
        raise RuntimeError(
            f"broadcast: exactly one of devices and out must be given, got {devices=} and {out=}"
        )
    if out is None:
        return tuple(_moved(tensor, place) for place in _places(devices))
    return tuple(one.copy_(tensor, non_blocking=True) for one in out)


def broadcast_coalesced(
    tensors: Sequence[Tensor], devices: Sequence[Any], buffer_size: int = 10485760
) -> list[list[Tensor]]:
    """Each of `tensors` on each of `devices`: a list for a device. Tensors of one dtype travel
    together, in buffers of at most `buffer_size` bytes.

    Args:
        tensors: what is copied.
        devices: devices or their numbers.
        buffer_size: bytes that travel together at most (10 MiB) (default: 10485760).

    >>> if taeda.cuda.is_available():
    ...     parameters = [taeda.ones(2, 3), taeda.zeros(3)]
    ...     (weight, bias), *_ = taeda.cuda.comm.broadcast_coalesced(parameters, ["cuda:0"])
    """
    places = _places(devices)
    made: list[list[Any]] = [[None] * len(tensors) for _ in places]
    for group in _groups(tensors, buffer_size):
        flat = _joined([tensors[k].reshape(-1) for k in group])
        sizes = [tensors[k].numel() for k in group]
        for at, place in enumerate(places):
            for k, part in zip(group, _moved(flat, place).split(sizes), strict=True):
                made[at][k] = part.reshape(tensors[k].shape)
    return made


def _joined(parts: list[Tensor]) -> Tensor:
    import taeda

    return taeda.cat(parts)


def _groups(tensors: Sequence[Tensor], most: int) -> list[list[int]]:
    """Positions of tensors of one dtype and device, in order, that fit a buffer together."""
    groups: list[list[int]] = []
    last: dict[tuple[Any, Any], tuple[list[int], int]] = {}
    for k, tensor in enumerate(tensors):
        key, size = (tensor.dtype, tensor.device), tensor.numel() * tensor.element_size()
        group, used = last.get(key, ([], most + 1))
        if used + size > most:
            group, used = [], 0
            groups.append(group)
        group.append(k)
        last[key] = group, used + size
    return groups


def reduce_add(inputs: Sequence[Tensor], destination: Any = None) -> Tensor:
    """The sum of tensors of one shape, on the device `destination`, the current one by default.

    Args:
        inputs: tensors of one shape and dtype.
        destination: a device or its number; None is the current one.

    >>> if taeda.cuda.is_available():
    ...     parts = [taeda.ones(2, device="cuda"), taeda.ones(2)]
    ...     assert taeda.cuda.comm.reduce_add(parts).tolist() == [2.0, 2.0]
    """
    if not inputs:
        raise ValueError("reduce_add expects at least one tensor")
    if any(one.shape != inputs[0].shape for one in inputs):
        shapes = [tuple(one.shape) for one in inputs]
        raise ValueError(f"reduce_add: tensors have one shape, got {shapes}")
    place = current_device() if destination is None else ordinal_of(destination)
    total = _moved(inputs[0], place)
    for one in inputs[1:]:
        total = total + _moved(one, place)
    return total


def reduce_add_coalesced(
    inputs: Sequence[Sequence[Tensor]], destination: Any = None, buffer_size: int = 10485760
) -> tuple[Tensor, ...]:
    """`reduce_add` of the first tensors of all devices, of the second ones, and so on. `inputs`
    has a list for a device; at most `buffer_size` bytes of one dtype travel together.

    Args:
        inputs: a list of tensors for each device, all of the same shapes.
        destination: a device or its number; None is the current one.
        buffer_size: bytes that travel together at most (10 MiB) (default: 10485760).

    >>> if taeda.cuda.is_available():
    ...     of_devices = [[taeda.ones(2), taeda.ones(3)], [taeda.ones(2), taeda.ones(3)]]
    ...     first, second = taeda.cuda.comm.reduce_add_coalesced(of_devices, 0)
    ...     assert second.tolist() == [2.0, 2.0, 2.0]
    """
    place = current_device() if destination is None else ordinal_of(destination)
    moved = [broadcast_coalesced(row, [place], buffer_size)[0] for row in inputs]
    return tuple(reduce_add(column, place) for column in zip(*moved, strict=True))


def scatter(
    tensor: Tensor,
    devices: Sequence[Any] | None = None,
    chunk_sizes: Sequence[int] | None = None,
    dim: int = 0,
    *,
    out: Sequence[Tensor] | None = None,
) -> tuple[Tensor, ...]:
    """Parts of `tensor` along `dim`, one on each of `devices` (all by default), of equal size or of
    `chunk_sizes`; or copied into the tensors `out`, whose sizes decide.

    Args:
        tensor: what is cut.
        devices: devices or their numbers; None is all of them.
        chunk_sizes: the size along `dim` of each part; None is equal ones.
        dim: along which it is cut (0).
        out: tensors that are written, in place of `devices` and `chunk_sizes` (default: None).

    >>> first, second = taeda.zeros(1), taeda.zeros(2)
    >>> _ = taeda.cuda.comm.scatter(taeda.arange(3.0), out=[first, second])
    >>> first.tolist(), second.tolist()
    ([0.0], [1.0, 2.0])
    """
    if out is not None:
        if devices is not None or chunk_sizes is not None:
            raise RuntimeError(
                "scatter: out says devices and sizes: leave devices and chunk_sizes out"
            )
        parts = tensor.split([one.shape[dim] for one in out], dim)
        return tuple(
            one.copy_(part, non_blocking=True) for one, part in zip(out, parts, strict=True)
        )
    places = _places(devices)
    if chunk_sizes is not None and len(chunk_sizes) != len(places):
        raise ValueError(f"scatter: {len(places)} devices and {len(chunk_sizes)} chunk_sizes")
    chunks = (
        tensor.chunk(len(places), dim)
        if chunk_sizes is None
        else tensor.split(list(chunk_sizes), dim)
    )
    return tuple(_moved(part, place) for part, place in zip(chunks, places, strict=False))


def gather(
    tensors: Sequence[Tensor], dim: int = 0, destination: Any = None, *, out: Tensor | None = None
) -> Tensor:
    """Tensors of several devices joined along `dim`, on the device `destination` (the current one by
    default, "cpu" is possible), or in `out`.

    Args:
        tensors: parts that differ along `dim` only.
        dim: along which they are joined (0).
        destination: a device, its number or "cpu"; None is the current one. Not together with `out`.
        out: where the result is written; None makes a tensor.

    >>> parts = [taeda.zeros(1, 2), taeda.ones(1, 2)]
    >>> taeda.cuda.comm.gather(parts, destination="cpu").tolist()
    [[0.0, 0.0], [1.0, 1.0]]
    """
    import taeda

    if out is not None:
        if destination is not None:
            raise RuntimeError("gather: out says the device: leave destination out")
        return out.copy_(taeda.cat([one.to(out.device) for one in tensors], dim))
    if destination == "cpu" or getattr(destination, "type", None) == "cpu":
        return taeda.cat([one.cpu() for one in tensors], dim)
    place = current_device() if destination is None else ordinal_of(destination)
    return taeda.cat([_moved(one, place) for one in tensors], dim)
