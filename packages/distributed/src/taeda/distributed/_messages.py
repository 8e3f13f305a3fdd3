"""From one rank to another: send and receive, one or in batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from taeda import Tensor

from ._calls import Call
from ._engines.base import Message
from ._errors import DistTimeoutError
from ._groups import recorder
from ._groups.checks import Flat, check_tensor, describe, flat, outputs_apart, peer_of
from ._groups.group import ProcessGroup
from ._groups.work import Work
from ._groups.world import the_group
from ._stores.base import seconds_of
from ._waiting import Deadline

__all__ = ["P2POp", "batch_isend_irecv", "irecv", "isend", "recv", "send"]

MAX_TAG = 1 << 20


class _MessageWork(Work):
    """A message under way. The engine is asked when somebody waits or asks."""

    def __init__(
        self, group: ProcessGroup, call: Call, message: Message, tensor: Tensor, whole: Flat | None
    ) -> None:
        super().__init__(call, [tensor])
        self._group, self._call, self._message, self._whole = group, call, message, whole

    def _ended(self, error: BaseException | None) -> None:
        self._call.end("failed" if error else "done")
        if error is None and self._whole is not None:
            self._whole.back()
        if error is None and self._message.source >= 0:
            self._source = self._group._ranks[self._message.source]
        self._finish(error)

    def is_completed(self) -> bool:
        if not self._done.is_set():
            try:
                if self._message.ready():
                    self._ended(None)
            except Exception as error:  # noqa: BLE001 - wait() raises it
                self._ended(error)
        return self._done.is_set()

    def wait(self, timeout: timedelta | None = None) -> bool:
        given = timeout is not None and timeout != timedelta(0)
        seconds = seconds_of(timeout if given and timeout is not None else self._group.timeout)
        if not self.is_completed():
            try:
                self._message.wait(Deadline(seconds))
                self._ended(None)
            except DistTimeoutError as error:
                if not given:
                    self._ended(error)
                raise
            except Exception as error:
                self._ended(error)
                raise
        return super().wait()

    def get_future(self) -> Any:
        future = super().get_future()
        if not self.is_completed():
            self._group._give(self._wait_aside)
        return future

    def _wait_aside(self) -> None:
        """On the group's thread, for a future that nobody waits for by the work."""
        if not self._done.is_set():
            try:
                self.wait()
            except Exception:  # noqa: BLE001 - the future has it
                return


def _begin(
    name: str, tensor: Tensor, rank: int | None, number: int | None, group: Any, tag: int
) -> _MessageWork | None:
    check_tensor(tensor, "tensor")
    made = the_group(group, name)
    if made is None:
        return None
    if not 0 <= tag < MAX_TAG:
        raise ValueError(f"tag {tag} is outside of 0 to {MAX_TAG - 1}")
    sends = name.endswith("send")
    names = ("dst", "group_dst") if sends else ("src", "group_src")
    peer = peer_of(made, rank, number, names, optional=not sends)
    if peer == made.rank() and not name.startswith("i"):
        raise ValueError(f"{name}: rank {made._ranks[peer]} cannot block for itself; use i{name}")
    who = "any rank" if peer < 0 else f"rank {made._ranks[peer]}"
    call = Call(name, f"{name}({describe(tensor)}, {who}, tag={tag})")
    made = made.lane(tensor.device.type)
    made._check_usable(call)
    made.check_devices(name, [tensor])
    call.group, call.state = made.group_name, "started"
    recorder.calls.append(call)
    if sends:
        message = made._engine.send(flat(tensor), peer, tag, call)
        return _MessageWork(made, call, message, tensor, None)
    outputs_apart([tensor], "tensor")
    whole = Flat(tensor)
    message = made._engine.receive(whole.values, None if peer < 0 else peer, tag, call)
    return _MessageWork(made, call, message, tensor, whole)


def send(
    tensor: Tensor,
    dst: int | None = None,
    group: Any = None,
    tag: int = 0,
    group_dst: int | None = None,
) -> None:
    """Send `tensor` to the rank `dst`, which must receive the same dtype and number of values.
    Not to oneself.

    Args:
        tensor: what is sent; it stays as it is.
        dst: the rank in the default group of who receives; or give `group_dst`, not both
            (default: None).
        group: the group of both; None is the default one.
        tag: a number of 0 or more that both sides give, 0 by default.
        group_dst: the same by its number within the group (default: None).

    >>> from concurrent.futures import ThreadPoolExecutor
    >>> from taeda import distributed as dist
    >>> store = dist.HashStore()
    >>> def rank(number):  # ranks are threads here; mostly they are processes
    ...     dist.init_process_group("inproc", store=store, rank=number, world_size=2)
    ...     x = taeda.full((2,), float(number))
    ...     dist.send(x, dst=1) if number == 0 else dist.recv(x, src=0)
    ...     dist.destroy_process_group()
    ...     return x
    >>> with ThreadPoolExecutor(2) as threads:
    ...     list(threads.map(rank, range(2)))
    [tensor([0., 0.]), tensor([0., 0.])]
    """
    if work := _begin("send", tensor, dst, group_dst, group, tag):
        work.wait()


def recv(
    tensor: Tensor,
    src: int | None = None,
    group: Any = None,
    tag: int = 0,
    group_src: int | None = None,
) -> int:
    """Receive into `tensor` from the rank `src`, or from any; return who sent it, -1 outside of the group.

    Args:
        tensor: where the values are written.
        src: the rank in the default group of who sends; or give `group_src`, not both. Without
            either, any (default: None).
        group: the group of both; None is the default one.
        tag: a number of 0 or more that both sides give, 0 by default.
        group_src: the same by its number within the group (default: None).

    >>> from concurrent.futures import ThreadPoolExecutor
    >>> from taeda import distributed as dist
    >>> store = dist.HashStore()
    >>> def rank(number):  # ranks are threads here; mostly they are processes
    ...     dist.init_process_group("inproc", store=store, rank=number, world_size=2)
    ...     x = taeda.full((2,), float(number))
    ...     said = dist.recv(x) if number == 0 else dist.send(x, dst=0)
    ...     dist.destroy_process_group()
    ...     return said
    >>> with ThreadPoolExecutor(2) as threads:
    ...     list(threads.map(rank, range(2)))  # rank 0 got what rank 1 sent
    [1, None]
    """
    work = _begin("recv", tensor, src, group_src, group, tag)
    if work is None:
        return -1
    work.wait()
    return work.source_rank()


def isend(
    tensor: Tensor,
    dst: int | None = None,
    group: Any = None,
    tag: int = 0,
    group_dst: int | None = None,
) -> Work | None:
    """Begin to send; `tensor` must not change until the work is done. To oneself as well.

    Args:
        tensor: what is sent; it stays as it is.
        dst: the rank in the default group of who receives; or give `group_dst`, not both
            (default: None).
        group: the group of both; None is the default one.
        tag: a number of 0 or more that both sides give, 0 by default.
        group_dst: the same by its number within the group (default: None).

    >>> from taeda import distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> got, work = taeda.zeros(2), dist.isend(taeda.tensor([1.0, 2.0]), dst=0)
    >>> dist.irecv(got, src=0).wait() and work.wait()
    True
    >>> got
    tensor([1., 2.])
    >>> dist.destroy_process_group()
    """
    return _begin("isend", tensor, dst, group_dst, group, tag)


def irecv(
    tensor: Tensor,
    src: int | None = None,
    group: Any = None,
    tag: int = 0,
    group_src: int | None = None,
) -> Work | None:
    """Begin to receive into `tensor`, which must not be read until the work is done.

    Args:
        tensor: where the values are written.
        src: the rank in the default group of who sends; or give `group_src`, not both. Without
            either, any (default: None).
        group: the group of both; None is the default one.
        tag: a number of 0 or more that both sides give, 0 by default.
        group_src: the same by its number within the group (default: None).

    >>> from taeda import distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> got = taeda.zeros(2)
    >>> works = [dist.irecv(got, src=0), dist.isend(taeda.tensor([1.0, 2.0]), dst=0)]
    >>> all(work.wait() for work in works)
    True
    >>> got
    tensor([1., 2.])
    >>> dist.destroy_process_group()
    """
    return _begin("irecv", tensor, src, group_src, group, tag)


class P2POp:
    """One message of a batch: `op` is `isend` or `irecv`, `peer` a rank of the default group.

    Args:
        op: `isend` or `irecv`; ValueError for anything else.
        tensor: what is sent, or where it is written.
        peer: the rank in the default group of the other side; or give `group_peer`, not both
            (default: None).
        group: the group of both; None is the default one.
        tag: a number of 0 or more that both sides give, 0 by default.
        group_peer: the same by its number within the group (default: None).

    >>> from taeda import distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> dist.P2POp(dist.isend, taeda.ones(2), 0)
    P2POp(isend, float32 (2,), peer=0)
    >>> dist.destroy_process_group()
    """

    def __init__(
        self,
        op: Callable[..., Work | None],
        tensor: Tensor,
        peer: int | None = None,
        group: Any = None,
        tag: int = 0,
        group_peer: int | None = None,
    ) -> None:
        if op not in (isend, irecv):
            raise ValueError(f"op is taeda.distributed.isend or irecv, not {op!r}")
        check_tensor(tensor, "tensor")
        made = the_group(group, "P2POp")
        if made is not None:
            peer_of(made, peer, group_peer, ("peer", "group_peer"))
        self.op, self.tensor, self.peer, self.group, self.tag = op, tensor, peer, group, tag
        self.group_peer = group_peer

    def __repr__(self) -> str:
        peer = self.peer if self.peer is not None else f"number {self.group_peer} of the group"
        return f"P2POp({self.op.__name__}, {describe(self.tensor)}, peer={peer})"


def batch_isend_irecv(p2p_op_list: Sequence[P2POp]) -> list[Work]:
    """Begin all messages; their works, in order. Both sides of a pair must have theirs in the same order.

    Args:
        p2p_op_list: at least one `P2POp`, all of one group; ValueError else.

    >>> from taeda import distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> given, got = taeda.tensor([1.0, 2.0]), taeda.zeros(2)
    >>> both = [dist.P2POp(dist.isend, given, 0), dist.P2POp(dist.irecv, got, 0)]
    >>> all(work.wait() for work in dist.batch_isend_irecv(both))
    True
    >>> got
    tensor([1., 2.])
    >>> dist.destroy_process_group()
    """
    if not p2p_op_list:
        raise ValueError("p2p_op_list is empty")
    if not all(isinstance(one, P2POp) for one in p2p_op_list):
        raise ValueError("p2p_op_list is a list of P2POp")
    if len({id(the_group(one.group, "batch_isend_irecv")) for one in p2p_op_list}) > 1:
        raise ValueError("all messages of a batch are of one group")
    made = the_group(p2p_op_list[0].group, "batch_isend_irecv")
    if made is None:
        return []
    tensors = [one.tensor for one in p2p_op_list]
    made = made.lane(tensors[0].device.type)
    made.check_devices("batch_isend_irecv", tensors)
    with made._engine.batching(tensors):
        works = [
            one.op(one.tensor, one.peer, one.group, one.tag, one.group_peer) for one in p2p_op_list
        ]
    return [work for work in works if work is not None]
