"""The ranks of a group that share one machine's memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .._errors import DistTimeoutError
from .._waiting import Deadline, wait_until
from .board import Board

__all__ = ["Mates"]


@dataclass
class Mates:
    """The ranks of a group that share this machine's memory; `rank` is this one's number among them.

    `look` raises if a rank of the group is gone, `late` makes the error of a wait that passed its deadline.
    """

    rank: int
    pids: list[int]
    board: Board
    look: Callable[[], None]
    late: Callable[[Deadline], DistTimeoutError]

    @property
    def size(self) -> int:
        return len(self.pids)

    def meet(self, deadline: Deadline, patient: bool) -> None:
        """A barrier inside a collective."""
        board = self.board
        turn = board.next_barrier()
        if not wait_until(lambda: board.passed(turn), deadline, self.look, patient):
            raise self.late(deadline)
