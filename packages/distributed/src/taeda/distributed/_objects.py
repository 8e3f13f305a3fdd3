"""Collectives on Python objects. They are pickled: whoever is in the group can run code in this
process by what it sends.
"""

from __future__ import annotations

import pickle
from typing import Any

import taeda
from taeda import Tensor

from ._collectives import all_gather, all_gather_into_tensor, broadcast, gather, scatter
from ._groups.checks import peer_of
from ._groups.group import ProcessGroup
from ._groups.world import the_group
from ._messages import recv, send

__all__ = [
    "all_gather_object",
    "broadcast_object_list",
    "gather_object",
    "recv_object_list",
    "scatter_object_list",
    "send_object_list",
]


def _pack(value: Any, group: ProcessGroup) -> Tensor:
    data = bytearray(pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL))
    return taeda.frombuffer(data, dtype=taeda.uint8).to(group.device)


def _unpack(data: Tensor) -> Any:
    return pickle.loads(data.cpu().numpy().tobytes())


def _sizes(values: list[Tensor], group: ProcessGroup) -> Tensor:
    return taeda.tensor([value.numel() for value in values], dtype=taeda.int64, device=group.device)


def _check_device(device: Any, group: ProcessGroup | None) -> None:
    if device is None or group is None:
        return
    wanted = group.device.type
    if taeda.device(device).type != wanted:
        raise ValueError(f"objects travel by the {wanted} in this group, not by {device}")


def all_gather_object(object_list: list[Any], obj: Any, group: Any = None) -> None:
    """Every rank's `obj` into `object_list`, which has a place for each.
    Pickles: only among processes you trust.

    Args:
        object_list: a list with as many places as the group has ranks; overwritten.
        obj: what this rank gives: anything that pickles.
        group: the group that takes part; None is the default one. A process outside of it does
            nothing.

    >>> from taeda import distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> found = [None] * dist.get_world_size()
    >>> dist.all_gather_object(found, {"rank": dist.get_rank()})
    >>> found
    [{'rank': 0}]
    >>> dist.destroy_process_group()
    """
    made = the_group(group, "all_gather_object")
    if made is None:
        return
    if len(object_list) != made.size():
        raise ValueError(f"object_list needs {made.size()} places, and has {len(object_list)}")
    mine = _pack(obj, made)
    sizes = taeda.zeros(made.size(), dtype=taeda.int64, device=made.device)
    all_gather_into_tensor(sizes, _sizes([mine], made), made)
    parts = [taeda.empty(size, dtype=taeda.uint8, device=made.device) for size in sizes.tolist()]
    all_gather(parts, mine, made)
    for number, part in enumerate(parts):
        object_list[number] = _unpack(part)


def gather_object(
    obj: Any,
    object_gather_list: list[Any] | None = None,
    dst: int | None = None,
    group: Any = None,
    group_dst: int | None = None,
) -> None:
    """Every rank's `obj` into `object_gather_list` of the rank `dst` (0 by default). Pickles.

    Args:
        obj: what this rank gives: anything that pickles.
        object_gather_list: on `dst` a list with a place for each rank, elsewhere None; ValueError
            else.
        dst: the rank in the default group of who gets, number 0 of the group by default; or
            give `group_dst`, not both (default: None).
        group: the group that takes part; None is the default one. A process outside of it does
            nothing.
        group_dst: the same by its number within the group (default: None).

    >>> from taeda import distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> found = [None]
    >>> dist.gather_object("here", found, dst=0)
    >>> found
    ['here']
    >>> dist.destroy_process_group()
    """
    made = the_group(group, "gather_object")
    if made is None:
        return
    root = (
        0
        if dst is None and group_dst is None
        else peer_of(made, dst, group_dst, ("dst", "group_dst"))
    )
    mine = made.rank() == root
    if mine and (object_gather_list is None or len(object_gather_list) != made.size()):
        raise ValueError(f"object_gather_list needs {made.size()} places on the rank dst")
    if not mine and object_gather_list is not None:
        raise ValueError("object_gather_list is given on the rank dst only")
    data = _pack(obj, made)
    sizes = taeda.zeros(made.size(), dtype=taeda.int64, device=made.device)
    all_gather_into_tensor(sizes, _sizes([data], made), made)
    most = int(sizes.max())
    padded = taeda.zeros(most, dtype=taeda.uint8, device=made.device)
    padded[: data.numel()] = data
    parts = (
        [taeda.empty(most, dtype=taeda.uint8, device=made.device) for _ in range(made.size())]
        if mine
        else None
    )
    gather(padded, parts, group=made, group_dst=root)
    if parts is not None and object_gather_list is not None:
        for number, (part, size) in enumerate(zip(parts, sizes.tolist(), strict=True)):
            object_gather_list[number] = _unpack(part[:size])


def broadcast_object_list(
    object_list: list[Any],
    src: int | None = None,
    group: Any = None,
    device: Any = None,
    group_src: int | None = None,
) -> None:
    """Give the objects of the rank `src` to all, into lists of the same length. Pickles.

    Args:
        object_list: on `src` what is sent, elsewhere a list of the same length, which is
            overwritten.
        src: the rank in the default group of who gives, number 0 of the group by default; or
            give `group_src`, not both (default: None).
        group: the group that takes part; None is the default one. A process outside of it does
            nothing.
        device: None, or the device by which the group's objects travel; ValueError for another.
        group_src: the same by its number within the group (default: None).

    >>> from taeda import distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> words = ["from rank 0"]
    >>> dist.broadcast_object_list(words, src=0)
    >>> words
    ['from rank 0']
    >>> dist.destroy_process_group()
    """
    made = the_group(group, "broadcast_object_list")
    _check_device(device, made)
    if made is None:
        return
    root = (
        0
        if src is None and group_src is None
        else peer_of(made, src, group_src, ("src", "group_src"))
    )
    packed = [_pack(value, made) for value in object_list] if made.rank() == root else []
    sizes = (
        _sizes(packed, made)
        if packed
        else taeda.zeros(len(object_list), dtype=taeda.int64, device=made.device)
    )
    broadcast(sizes, group=made, group_src=root)
    whole = (
        taeda.cat(packed)
        if packed
        else taeda.empty(int(sizes.sum()), dtype=taeda.uint8, device=made.device)
    )
    broadcast(whole, group=made, group_src=root)
    if made.rank() != root:
        for number, part in enumerate(whole.split(sizes.tolist())):
            object_list[number] = _unpack(part)


def scatter_object_list(
    scatter_object_output_list: list[Any],
    scatter_object_input_list: list[Any] | None = None,
    src: int | None = None,
    group: Any = None,
    group_src: int | None = None,
) -> None:
    """Give each rank its object of the list of `src` (0 by default), as element 0 of the output
    list. Pickles.

    Args:
        scatter_object_output_list: a list with at least one place; the first is written.
        scatter_object_input_list: on `src` an object for each rank; elsewhere it is not read,
            and may be None (default: None).
        src: the rank in the default group of who gives, number 0 of the group by default; or
            give `group_src`, not both (default: None).
        group: the group that takes part; None is the default one. A process outside of it does
            nothing.
        group_src: the same by its number within the group (default: None).

    >>> from taeda import distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> mine = [None]
    >>> dist.scatter_object_list(mine, ["for rank 0"], src=0)
    >>> mine
    ['for rank 0']
    >>> dist.destroy_process_group()
    """
    made = the_group(group, "scatter_object_list")
    if made is None:
        return
    root = (
        0
        if src is None and group_src is None
        else peer_of(made, src, group_src, ("src", "group_src"))
    )
    if not isinstance(scatter_object_output_list, list) or not scatter_object_output_list:
        raise ValueError("scatter_object_output_list is a list with at least one place")
    given, mine = scatter_object_input_list, made.rank() == root
    if mine and (given is None or len(given) != made.size()):
        raise ValueError(f"scatter_object_input_list needs {made.size()} objects on the rank src")
    packed = [_pack(value, made) for value in given] if mine and given is not None else []
    sizes = (
        _sizes(packed, made)
        if mine
        else taeda.zeros(made.size(), dtype=taeda.int64, device=made.device)
    )
    broadcast(sizes, group=made, group_src=root)
    most = int(sizes.max())
    parts = []
    for data in packed:
        padded = taeda.zeros(most, dtype=taeda.uint8, device=made.device)
        padded[: data.numel()] = data
        parts.append(padded)
    got = taeda.empty(most, dtype=taeda.uint8, device=made.device)
    scatter(got, parts if mine else None, group=made, group_src=root)
    scatter_object_output_list[0] = _unpack(got[: int(sizes[made.rank()])])


def send_object_list(
    object_list: list[Any],
    dst: int | None = None,
    group: Any = None,
    device: Any = None,
    group_dst: int | None = None,
    use_batch: bool = False,
) -> None:
    """Send objects to the rank `dst`, which calls `recv_object_list`.
    Pickles; `use_batch` changes nothing here.

    Args:
        object_list: what is sent: objects that pickle.
        dst: the rank in the default group of who gets; or give `group_dst`, not both (default:
            None).
        group: the group that takes part; None is the default one. A process outside of it does
            nothing.
        device: None, or the device by which the group's objects travel; ValueError for another.
        group_dst: the same by its number within the group (default: None).
        use_batch: nothing depends on it; it is here for programs that pass it (default: False).

    >>> from concurrent.futures import ThreadPoolExecutor
    >>> from taeda import distributed as dist
    >>> store = dist.HashStore()
    >>> def rank(number):  # ranks are threads here; mostly they are processes
    ...     dist.init_process_group("inproc", store=store, rank=number, world_size=2)
    ...     words = ["lr", {"step": 3}] if number == 0 else [None, None]
    ...     act = dist.send_object_list if number == 0 else dist.recv_object_list
    ...     act(words, 1 - number)
    ...     dist.destroy_process_group()
    ...     return words
    >>> with ThreadPoolExecutor(2) as threads:
    ...     list(threads.map(rank, range(2)))[1]
    ['lr', {'step': 3}]
    """
    made = the_group(group, "send_object_list")
    _check_device(device, made)
    if made is None:
        return
    packed = [_pack(value, made) for value in object_list]
    send(_sizes(packed, made), dst, made, group_dst=group_dst)
    send(taeda.cat(packed), dst, made, group_dst=group_dst)


def recv_object_list(
    object_list: list[Any],
    src: int | None = None,
    group: Any = None,
    device: Any = None,
    group_src: int | None = None,
    use_batch: bool = False,
) -> int:
    """Receive as many objects as the list has places from `src`, or from any; return who sent them.
    Pickles.

    Args:
        object_list: a list with as many places as objects are sent; overwritten.
        src: the rank in the default group of who sends; or give `group_src`, not both. Without
            either, any (default: None).
        group: the group that takes part; None is the default one. A process outside of it gets -1.
        device: None, or the device by which the group's objects travel; ValueError for another.
        group_src: the same by its number within the group (default: None).
        use_batch: nothing depends on it; it is here for programs that pass it (default: False).

    >>> from concurrent.futures import ThreadPoolExecutor
    >>> from taeda import distributed as dist
    >>> store, got = dist.HashStore(), [None]
    >>> def rank(number):  # ranks are threads here; mostly they are processes
    ...     dist.init_process_group("inproc", store=store, rank=number, world_size=2)
    ...     if number == 0:
    ...         dist.send_object_list([{"step": 3}], dst=1)
    ...     else:
    ...         print("from rank", dist.recv_object_list(got, src=0))
    ...     dist.destroy_process_group()
    >>> with ThreadPoolExecutor(2) as threads:
    ...     _ = list(threads.map(rank, range(2)))
    from rank 0
    >>> got
    [{'step': 3}]
    """
    made = the_group(group, "recv_object_list")
    _check_device(device, made)
    if made is None:
        return -1
    sizes = taeda.zeros(len(object_list), dtype=taeda.int64, device=made.device)
    source = recv(sizes, src, made, group_src=group_src)
    whole = taeda.empty(int(sizes.sum()), dtype=taeda.uint8, device=made.device)
    recv(whole, source, made)
    for number, part in enumerate(whole.split(sizes.tolist())):
        object_list[number] = _unpack(part)
    return source
