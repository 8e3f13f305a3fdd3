"""The meeting before a collective over several machines. The first rank of each machine tells those
of the others what its ranks wrote on their board, and writes on it what it hears.

So every board has a row for every rank of the group, and a rank that looks at its board cannot tell
who is on another machine. Few values come along, as they do on one machine.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence

from .._waiting import Deadline, wait_until
from .._wires.wires import Receipt, Wires
from .board import LITTLE, Board

__all__ = ["Relay", "groups_of"]

MEET = 0  # kind of message
BROUGHT = 64 << 10  # bytes of the values of all ranks that may come along to a meeting
_ROW = struct.Struct("<HI")  # bytes of the texts of a rank, and of the values that it brought


def groups_of(nodes: Sequence[str]) -> list[list[int]]:
    """The ranks of each machine, in the order of the machines' first ranks."""
    groups: dict[str, list[int]] = {}
    for rank, node in enumerate(nodes):
        groups.setdefault(node, []).append(rank)
    return list(groups.values())


class Relay:
    """What the first rank of a machine does beside its own part: `groups` are the ranks of each
    machine, `rank` is the first of its own.
    """

    def __init__(self, wires: Wires, board: Board, groups: Sequence[Sequence[int]]) -> None:
        self._wires, self._board = wires, board
        self._near = next(group for group in groups if group[0] == board.mine)
        self._far = {group[0]: group for group in groups if group[0] != board.mine}

    def meet(
        self, seq: int, brought: int, deadline: Deadline, look: Callable[[], None], patient: bool
    ) -> bool:
        """Come to collective `seq` for this machine, whose ranks each brought so many bytes; False
        if not all have come in time.
        """
        board = self._board
        if not wait_until(lambda: board.came(self._near, seq), deadline, look, patient):
            return False
        receipts = [self._wires.receive(Receipt(lead, MEET, seq)) for lead in self._far]
        told = memoryview(b"".join(self._row(rank, seq, brought) for rank in self._near))
        for lead in self._far:
            self._wires.send(lead, MEET, seq, told)

        def heard() -> bool:
            for receipt in [receipt for receipt in receipts if receipt.done]:
                receipts.remove(receipt)
                self._write(receipt, seq)
            return not receipts

        return self._wires.wait(heard, deadline, look, patient)

    def _row(self, rank: int, seq: int, brought: int) -> bytes:
        text = self._board.written(rank, seq)
        values = self._board.brought(rank, seq, brought)
        return _ROW.pack(len(text), len(values)) + text + values

    def _write(self, receipt: Receipt, seq: int) -> None:
        """What another machine's ranks wrote goes on the board."""
        data, at = bytes(receipt.values), 0
        for rank in self._far[receipt.source]:
            size, brought = _ROW.unpack_from(data, at)
            at += _ROW.size
            text, values = data[at : at + size], data[at + size : at + size + brought]
            at += size + brought
            self._board.write(rank, seq, text, values[:LITTLE])
