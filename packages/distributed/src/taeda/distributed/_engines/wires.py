"""Collectives over several machines, without MPI: memory inside a machine, our own connections
between them.

MPI ends or hangs survivors when a rank of another machine dies. Here a connection that ends is one
more fact that the error tells of.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import taeda
from taeda import Tensor

from .._calls import Call
from .._errors import DistBackendError, DistMismatchError
from .._meeting.arriving import Arrivals
from .._meeting.board import LITTLE, Board
from .._meeting.facts import Facts
from .._meeting.mates import Mates
from .._meeting.relay import BROUGHT, groups_of
from .._mpi.launched import launcher
from .._settings import env
from .._stores import PrefixStore, Store
from .._sums.brought import deal, join, slices
from .._sums.exchange import Exchange
from .._sums.kernels import NARROW, kernel_of
from .._sums.machines import Machines
from .._sums.ring import Ring
from .._sums.window import Windows, can_bring
from .._types import ReduceOp
from .._waiting import Deadline
from .._wires.wires import Receipt, Sending, Wires, bytes_of
from .._wires.wiring import Laid, agree, lay
from .base import Engine, Message

__all__ = ["WireEngine", "between", "wanted"]

MESSAGE = 2  # kind of message of the wires
_used = False  # is there such an engine in this process, or has there been one?


def between() -> str:
    """What this process tells the others of its way to other machines, for `wanted`.

    Who starts a job by mpiexec has an MPI that knows the network, and a launcher that ends all
    ranks when one dies: nobody is left to be taken along.
    """
    choice = env("BETWEEN_MACHINES")
    if choice not in ("", "mpi", "sockets"):
        raise DistBackendError(
            f"TAEDA_BETWEEN_MACHINES is {choice!r}; it takes mpi, sockets or nothing"
        )
    started = launcher()
    by_mpi = not choice and started is not None and started.by_mpi
    return "wires" if _used else "mpi" if by_mpi or choice == "mpi" else ""


def wanted(everybody: Sequence[Facts]) -> bool:
    """Are these ranks joined by connections? Those of several machines are, and those of one where
    an earlier group was, since MPI does not run there.
    """
    ways = {facts.between for facts in everybody}
    several = len({facts.node for facts in everybody}) > 1
    return "wires" in ways or (several and "mpi" not in ways)


class WireEngine(Engine):
    """One group whose ranks are joined by connections. Made by `join`."""

    def __init__(
        self,
        arrivals: Arrivals,
        wires: Wires,
        windows: Windows | None,
        common: Windows | None,
        machines: Machines | None,
    ) -> None:
        super().__init__(arrivals.rank, arrivals.size)
        self._arrivals, self._wires, self._windows = arrivals, wires, windows
        self._common, self._machines = common, machines
        self._alone = len({facts.node for facts in arrivals.facts}) == arrivals.size
        self._exchange = Exchange(wires, self.rank, self.size, arrivals.look, arrivals.late)
        arrivals.prepare = self._prepare

    @staticmethod
    def join(
        store: Store, rank: int, ranks: Sequence[int], everybody: list[Facts], timeout: timedelta
    ) -> WireEngine | None:
        """The engine of this rank, or None where ranks cannot be joined. Every rank gets one answer."""
        global _used
        number, groups = ranks.index(rank), groups_of([facts.node for facts in everybody])
        arrivals = Arrivals(store, number, list(ranks), everybody, timeout, None)
        laid = _lay(store, number, groups, timeout)
        mates = arrivals.mates
        board = arrivals.open_common_board(timeout) if len(groups) > 1 else None
        able = mates is not None and laid is not None and (board is not None or len(groups) == 1)
        if not agree(store, able, number, len(ranks), timeout):
            _leave(arrivals, board, laid)
            return None
        assert mates is not None and laid is not None
        wires, ring = laid
        arrivals.join(wires, board)
        windows = Windows(mates) if mates.size > 1 else None
        common, machines = None, None
        if board is not None:
            pids = [facts.pid for facts in everybody]
            common = Windows(Mates(number, pids, board, arrivals.look, arrivals.late))
            machines = Machines(arrivals, windows, ring, len(groups) == len(ranks))
        _used = True
        return WireEngine(arrivals, wires, windows, common, machines)

    # ---- waiting ----

    def arrive(self, call: Call, deadline: Deadline) -> None:
        self._arrivals.arrive(call, deadline, self.patient)
        self._exchange.begin(call.seq, self.patient)

    def reach(self, call: Call, deadline: Deadline) -> list[int]:
        return self._arrivals.reach(call, deadline, self.patient)

    def _prepare(self, call: Call) -> None:
        """Before all meet: lay what are few values where the others find them, or say where the
        values lie.
        """
        place = 0
        if call.payload is not None:
            values, op = call.payload
            if can_bring(values, op):
                call.brought = self._bring(values, call.seq)
            if self._windows is not None:
                place = self._windows.place(values)
        if self._windows is not None:
            self._windows.mates.board.lie(place)

    def _bring(self, values: Tensor, seq: int) -> list[Tensor] | None:
        if self._common is None:
            assert self._windows is not None
            return self._windows.bring(values, seq)
        nbytes = values.numel() * values.element_size()
        few = nbytes <= LITTLE and nbytes * self.size <= BROUGHT
        return self._common.bring(values, seq) if few else None

    # ---- collectives ----

    def all_reduce(self, tensor: Tensor, op: ReduceOp, deadline: Deadline) -> None:
        if parts := self._arrivals.brought():
            self._add_brought(parts, tensor, op)
        elif tensor.numel():
            self._all_reduce(tensor, op, deadline)

    def _add_brought(self, parts: list[Tensor], into: Tensor, op: ReduceOp) -> None:
        windows = self._common or self._windows
        assert windows is not None
        windows.add_brought(parts, into, op)

    def _all_reduce(self, tensor: Tensor, op: ReduceOp, deadline: Deadline) -> None:
        """Of more values than come along to a meeting."""
        if self._machines is None:
            assert self._windows is not None
            self._windows.all_reduce(tensor, op, deadline, self.patient)
            return
        if tensor.dtype in NARROW:
            wide = tensor.float()
            self._machines.all_reduce(wide, op, deadline, self.patient)
            tensor.copy_(wide)
            return
        self._machines.all_reduce(tensor, op, deadline, self.patient)

    def reduce(self, tensor: Tensor, root: int, op: ReduceOp, deadline: Deadline) -> None:
        self.all_reduce(tensor if self.rank == root else tensor.clone(), op, deadline)

    def reduce_scatter(
        self, output: Tensor, flat: Tensor, op: ReduceOp, deadline: Deadline
    ) -> None:
        if parts := self._arrivals.brought():
            self._add_brought(slices(parts, self.rank), output, op)
        elif output.dtype in NARROW:
            wide = taeda.empty(output.numel())
            self.reduce_scatter(wide, flat.float(), op, deadline)
            output.copy_(wide)
        elif self._exchange.spreads(flat) or self._alone:
            kernel = kernel_of(op, output.dtype)
            self._exchange.reduce_scatter(output, flat, kernel, deadline)
        else:  # first inside the machine
            whole = flat.clone()
            self.all_reduce(whole, op, deadline)
            output.copy_(whole.split(output.numel())[self.rank])

    def broadcast(self, tensor: Tensor, root: int, deadline: Deadline) -> None:
        if parts := self._arrivals.brought():
            tensor.copy_(parts[root])
            return
        self._exchange.broadcast(tensor, root, deadline)

    def all_gather(self, outputs: Sequence[Tensor], tensor: Tensor, deadline: Deadline) -> None:
        self._exchange.all_gather(outputs, tensor, deadline)

    def all_gather_flat(self, output: Tensor, tensor: Tensor, deadline: Deadline) -> None:
        if parts := self._arrivals.brought():
            join(parts, output)
        elif tensor.numel():
            self._exchange.all_gather(output.split(tensor.numel()), tensor, deadline)

    def gather(
        self, outputs: Sequence[Tensor], tensor: Tensor, root: int, deadline: Deadline
    ) -> None:
        self._exchange.swap([(root, tensor)], list(enumerate(outputs)), deadline)

    def scatter(
        self, tensor: Tensor, inputs: Sequence[Tensor], root: int, deadline: Deadline
    ) -> None:
        self._exchange.swap(list(enumerate(inputs)), [(root, tensor)], deadline)

    def all_to_all(
        self, outputs: Sequence[Tensor], inputs: Sequence[Tensor], deadline: Deadline
    ) -> None:
        if parts := self._arrivals.brought():
            deal(parts, outputs, self.rank)
            return
        self._exchange.swap(list(enumerate(inputs)), list(enumerate(outputs)), deadline)

    # ---- messages ----

    def send(self, tensor: Tensor, peer: int, tag: int, call: Call) -> Message:
        sending = self._wires.send(peer, MESSAGE, tag, bytes_of(tensor), _says(tensor), tensor)
        return _Message(self._arrivals, self._wires, call, peer, sending, tensor)

    def receive(self, tensor: Tensor, peer: int | None, tag: int, call: Call) -> Message:
        wanted = Receipt(peer, MESSAGE, tag, bytes_of(tensor), _says(tensor), tensor)
        receipt = self._wires.receive(wanted)
        return _Message(self._arrivals, self._wires, call, peer, receipt, tensor)

    # ---- the rest ----

    def allocate(self, nbytes: int, deadline: Deadline) -> Tensor | None:
        return self._windows.allocate(nbytes, deadline) if self._windows is not None else None

    def finish(self, call: Call) -> None:
        self._arrivals.finish(call)

    def give_up(self, error: BaseException) -> None:
        self._arrivals.give_up(error)

    def close(self) -> None:
        for part in (self._windows, self._common, self._machines):
            if part is not None:
                part.close()
        self._arrivals.close()


def _lay(
    store: Store, number: int, groups: Sequence[Sequence[int]], timeout: timedelta
) -> tuple[Wires, Ring | None] | None:
    """The connections to all ranks, and for the first rank of a machine those of the ring."""
    size = sum(map(len, groups))
    below, above = range(number), range(number + 1, size)
    mesh = lay(PrefixStore("mesh", store), number, size, below, above, timeout)
    ring = None
    leads = [group[0] for group in groups]
    if len(groups) > 1 and number in leads:
        node, nodes = leads.index(number), len(leads)
        after, before = (node + 1) % nodes, (node - 1) % nodes
        laid = lay(PrefixStore("ring", store), node, nodes, [after], [before], timeout)
        if laid is None:
            _close(mesh)
            return None
        ring = Ring(laid[0][after], laid[1][before], node, nodes)
    if mesh is None:
        if ring is not None:
            ring.close()
        return None
    return Wires(number, {**mesh[0], **mesh[1]}), ring


def _close(mesh: Laid | None) -> None:
    for sockets in mesh or ():
        for sock in sockets.values():
            sock.close()


def _leave(arrivals: Arrivals, board: Board | None, laid: tuple[Wires, Ring | None] | None) -> None:
    """Not all ranks could be joined."""
    arrivals.close()
    if board is not None:
        board.close()
    for part in laid or ():
        if part is not None:
            part.close()


def _says(tensor: Tensor) -> bytes:
    """What a message says of itself: the receiver must want the same."""
    return f"{tensor.numel()} values of {tensor.dtype}".encode()


class _Message(Message):
    """One on its way."""

    def __init__(
        self,
        arrivals: Arrivals,
        wires: Wires,
        call: Call,
        peer: int | None,
        move: Sending | Receipt,
        tensor: Tensor,
    ) -> None:
        self._arrivals, self._wires, self._call, self._peer = arrivals, wires, call, peer
        self._move, self._tensor = move, tensor

    def ready(self) -> bool:
        self._wires.move()
        return self._done()

    def _done(self) -> bool:
        move = self._move
        if not move.done or isinstance(move, Sending):
            return move.done
        self.source = move.source
        if move.other is not None:
            source = self._arrivals.ranks[move.source]
            raise DistMismatchError(
                f"{self._call}: rank {source} sent {move.other.decode()}, but "
                f"{_says(self._tensor).decode()} were to be received",
                [source],
            )
        return True

    def wait(self, deadline: Deadline) -> None:
        arrivals = self._arrivals

        def look() -> None:
            arrivals.look_at(self._call, self._peer)

        if not self._wires.wait(self._done, deadline, look, True):
            raise arrivals.late_message(self._call, self._peer, deadline)
