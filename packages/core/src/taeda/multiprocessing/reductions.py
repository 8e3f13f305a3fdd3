"""How tensors and storages become handles for another process, and tensors there again.

Subclasses and parameters need nothing of their own: they are pickled around a plain tensor, and
that one is shared.
"""

from __future__ import annotations

import atexit
from functools import cache
from multiprocessing.context import get_spawning_popen
from multiprocessing.reduction import DupFd, ForkingPickler
from typing import Any

from taeda import Tensor, _pickling
from taeda._native import core as _core
from taeda._storage import shared_files as _shared_files
from taeda._storage import sharing as _sharing
from taeda._warnings import warn
from taeda.cuda import Event
from taeda.storage import TypedStorage, UntypedStorage

from ._transport import carried

__all__ = [
    "rebuild_cuda_event",
    "rebuild_cuda_storage",
    "rebuild_storage",
    "rebuild_tensor",
    "reduce_cuda_event",
    "reduce_storage",
    "reduce_tensor",
    "register",
]


def register() -> None:
    """Teach every pickler of `multiprocessing` how tensors travel.

    >>> from multiprocessing.reduction import ForkingPickler
    >>> register()  # taeda.multiprocessing did it already
    >>> x = taeda.ones(1000)
    >>> handle = bytes(ForkingPickler.dumps(x))  # shorter than its 4000 bytes
    >>> len(handle) < 1000, ForkingPickler.loads(handle).data_ptr() == x.data_ptr()
    (True, True)
    """
    ForkingPickler.register(Tensor, reduce_tensor)
    ForkingPickler.register(UntypedStorage, reduce_storage)
    ForkingPickler.register(TypedStorage, _reduce_typed)
    ForkingPickler.register(Event, reduce_cuda_event)


# ---- tensors ----


def reduce_tensor(tensor: Tensor) -> tuple[Any, ...]:
    """What rebuilds a tensor elsewhere. RuntimeError for one that was computed and requires grad.

    >>> rebuild, arguments = reduce_tensor(taeda.arange(3.0)[1:])
    >>> rebuild(*arguments).tolist()
    [1.0, 2.0]
    """
    if tensor.requires_grad and not tensor.is_leaf:
        raise RuntimeError(
            "cannot send a tensor that was computed from others and requires grad: its graph does not cross "
            "processes. Send tensor.detach() for the values alone"
        )
    # parts travel as other tensors do, and names are refused
    if _core.parts_of(tensor) is not None or _core.names_of(tensor) is not None:
        return _pickling.describe(tensor)
    storage = None if tensor.device.type == "meta" else tensor.untyped_storage()
    state = dict(tensor.__dict__) or None
    facts = (tensor.dtype, *_pickling.facts(tensor), tensor.requires_grad, state)
    return rebuild_tensor, (storage, tensor.storage_offset(), *facts)


def rebuild_tensor(storage: UntypedStorage | None, offset: int, *facts: Any) -> Tensor:
    """The tensor that `reduce_tensor` described.

    >>> x = taeda.arange(3.0)
    >>> rebuild, arguments = reduce_tensor(x)
    >>> rebuild is rebuild_tensor, rebuild_tensor(*arguments).data_ptr() == x.data_ptr()
    (True, True)
    """
    base = None if storage is None else storage._bytes
    return _pickling.rebuild(base, offset, *facts)


# ---- storages ----


def reduce_storage(storage: UntypedStorage) -> tuple[Any, ...]:
    """Move a storage into shared memory, and give what finds it there. Memory of a CUDA device stays
    where it is, until the receiver has released it.

    >>> storage = taeda.ones(2).untyped_storage()
    >>> rebuild, arguments = reduce_storage(storage)
    >>> storage.is_shared(), rebuild(*arguments).data_ptr() == storage.data_ptr()
    (True, True)
    """
    if storage.device.type == "cuda":
        return _reduce_cuda(storage)
    if storage.device.type == "meta" or storage.nbytes() == 0:
        return UntypedStorage, (storage.nbytes(),)
    _, fd, offset, name = _core.segment_facts(storage._bytes) or (False, -1, 0, None)
    if fd < 0 and name is None:  # private, or on a segment whose descriptor was not kept
        storage = (
            storage.clone().share_memory_() if storage.is_shared() else storage.share_memory_()
        )
        _, fd, offset, name = _core.segment_facts(storage._bytes)
    if fd < 0:
        if _sharing.is_own_file(name):
            _shared_files.sending(storage._bytes, name)
        return rebuild_named_storage, (name, offset, storage.nbytes())
    return rebuild_storage, (_handle(fd, storage), offset, storage.nbytes())


def _reduce_cuda(storage: UntypedStorage) -> tuple[Any, ...]:
    if storage.nbytes() == 0:
        return _empty_on, (str(storage.device),)
    parcel = _core.cuda_ipc_send(storage._bytes)
    _warn_at_exit()
    return rebuild_cuda_storage, (parcel,)


@cache
def _warn_at_exit() -> None:
    atexit.register(_tell_of_tensors_out)


def _tell_of_tensors_out() -> None:
    if count := _core.cuda_ipc_collect():
        warn(
            f"this process ends while {count} of its CUDA tensors are with other processes, whose "
            "memory goes with it: a sender must live until its tensors were released"
        )


def _empty_on(device: str) -> UntypedStorage:
    return UntypedStorage(0, device=device)


def rebuild_cuda_storage(parcel: bytes) -> UntypedStorage:
    """The memory of a CUDA device that another process sent. RuntimeError if that process has
    ended, if the device is not seen here, and for what arrived before.

    >>> rebuild_cuda_storage(b"of another version")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: a CUDA tensor of another process: 18 bytes describe it where ...
    """
    return UntypedStorage._of(_core.cuda_ipc_receive(parcel))


def reduce_cuda_event(event: Event) -> tuple[Any, ...]:
    """What rebuilds an event of `Event(interprocess=True)` elsewhere.

    >>> if taeda.cuda.is_available():
    ...     event = taeda.cuda.Event(interprocess=True)
    ...     event.record()
    ...     rebuild, (device, handle) = reduce_cuda_event(event)
    ...     assert rebuild is rebuild_cuda_event
    """
    handle = event.ipc_handle()
    return rebuild_cuda_event, (str(event.device), handle)


def rebuild_cuda_event(device: str, handle: bytes) -> Event:
    """The event of another process.

    >>> if taeda.cuda.is_available():  # what reduce_cuda_event names for the other process
    ...     event = taeda.cuda.Event(interprocess=True)
    ...     event.record()
    ...     assert reduce_cuda_event(event)[0] is rebuild_cuda_event
    """
    return Event.from_ipc_handle(device, handle)


def _handle(fd: int, owner: UntypedStorage) -> Any:
    """What gives another process the descriptor: the message itself, or the start of the process.

    Queues of the standard library bring none along: there this process keeps the descriptor until
    the other asks.
    """
    starting: Any = get_spawning_popen()
    if starting is None:
        return carried(fd, owner) or DupFd(fd)
    if starting.method == "spawn" and fd in starting._fds:
        return starting.DupFd(fd)  # it inherits one descriptor, however many handles it is given
    return DupFd(fd)


def rebuild_storage(handle: Any, offset: int, nbytes: int) -> UntypedStorage:
    """The storage behind a descriptor; the one this process has already, if it has.

    >>> storage = taeda.ones(2).share_memory_().untyped_storage()
    >>> rebuild, (handle, offset, nbytes) = reduce_storage(storage)
    >>> rebuild(handle, offset, nbytes).data_ptr() == storage.data_ptr()
    True
    """
    flags = _sharing.SHARED | _sharing.KEEP_FD | _sharing.FIND
    return UntypedStorage._of(_core.map_storage(handle.detach(), offset, nbytes, flags, None))


def rebuild_named_storage(name: str, offset: int, nbytes: int) -> UntypedStorage:
    """The storage behind a file's name; the one this process has already, if it has."""
    found = _sharing.open_named(name, offset, nbytes)
    if _sharing.is_own_file(name):
        _shared_files.arrived(found, name)
    return UntypedStorage._of(found)


def _reduce_typed(storage: TypedStorage) -> tuple[Any, ...]:
    return _rebuild_typed, (storage.untyped(), storage.dtype)


def _rebuild_typed(storage: UntypedStorage, dtype: Any) -> TypedStorage:
    return TypedStorage(wrap_storage=storage, dtype=dtype)
