"""The beginning of every collective on MPI: all ranks come, and what they called is compared,
before anything is moved.

On one machine by a board in shared memory. Across machines the first ranks of the machines tell
each other what stands on their boards (`relay`). Where ranks share no memory, or no connections
can be laid, an allgather of fixed records takes their place. Who has not come on other machines is
read from the store (`far`).
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from taeda import Tensor

from .._calls import Call
from .._errors import DistBackendError, DistMismatchError, DistPeerDiedError, DistTimeoutError
from .._stores import Store
from .._waiting import Deadline, wait_until
from .._wires.wires import Wires
from .board import Board, open_board
from .facts import Facts
from .far import Far
from .mates import Mates
from .peers import Peers, state_of
from .relay import Relay, groups_of
from .words import LastWords, follow

__all__ = ["Arrivals"]

RECORD = 512
LAST_WORDS = 0.5  # seconds after the end of a connection in which its rank's last words are heard


class Arrivals:
    """The other ranks of a group, as one rank sees them.
    `ranks` are ranks of the default group, for messages.
    """

    def __init__(
        self,
        store: Store,
        rank: int,
        ranks: list[int],
        everybody: Sequence[Facts],
        timeout: timedelta,
        iallgather: Callable[[bytes, bytearray], Any] | None,
    ) -> None:
        self.rank, self.ranks, self.size = rank, ranks, len(ranks)
        self.facts, self._store, self._iallgather = everybody, store, iallgather
        self.one_node = len({facts.node for facts in everybody}) == 1
        here = everybody[rank].node
        local = {r: f.pid for r, f in enumerate(everybody) if f.node == here and r != rank}
        self.peers = Peers(local)
        self.call: Call | None = None
        # what the engine does before all meet
        self.prepare: Callable[[Call], None] = lambda call: None
        self.board: Board | None = None
        self.far: Far | None = None
        self.mates = self._mates(timeout)
        self._wires: Wires | None = None
        self._relay: Relay | None = None
        self._ends: dict[int, float] = {}  # when the end of a rank's connection was seen
        if self.one_node:
            self.board = self.mates.board if self.mates is not None else None
        elif self.size > 1:
            self.far = Far(store, rank, self.size)

    def _mates(self, timeout: timedelta) -> Mates | None:
        """The ranks of this machine, if they can share memory."""
        here = self.facts[self.rank].node
        mates = [rank for rank, facts in enumerate(self.facts) if facts.node == here]
        pids, mine = [self.facts[rank].pid for rank in mates], mates.index(self.rank)
        key = "board" if self.one_node else f"board of {mates[0]}"
        board = open_board(self._store, key, pids, mine, timeout)
        return Mates(mine, pids, board, self.look, self.late) if board is not None else None

    def open_common_board(self, timeout: timedelta) -> Board | None:
        """Of several machines: a board on this one with a row for every rank of the group."""
        near = next(g for g in groups_of([f.node for f in self.facts]) if self.rank in g)
        pids, key = [self.facts[rank].pid for rank in near], f"common board of {near[0]}"
        rows = self.size, self.rank
        return open_board(self._store, key, pids, near.index(self.rank), timeout, rows)

    def join(self, wires: Wires, board: Board | None) -> None:
        """From now on ranks that are gone are seen by their connections as well, and if there are
        several machines they meet on their common `board`.
        """
        self._wires = wires
        if board is not None:
            self.board = board
            groups = groups_of([facts.node for facts in self.facts])
            if self.rank in [group[0] for group in groups]:
                self._relay = Relay(wires, board, groups)

    # ---- coming ----

    def arrive(self, call: Call, deadline: Deadline, patient: bool) -> None:
        """Wait for all ranks; then nobody's call differs, or every rank raises the same DistMismatchError."""
        self.call, board = call, self.board
        if self.size == 1:
            return
        if board is None:
            self._arrive_far(call, deadline, patient)
            return
        if self._come(call, deadline, patient):
            raise self.late(deadline)
        if (left := board.gave_up()) and (left := self._unfinished(left)):
            self._fail([], left)
        if board.differing(call.seq):
            texts = [board.texts(rank, call.seq) for rank in range(self.size)]
            raise self._mismatch([first for first, _ in texts], [second for _, second in texts])
        if call.wants is not None:
            self._check_details([board.texts(rank, call.seq)[1] for rank in range(self.size)])

    def brought(self) -> list[Tensor] | None:
        """The values of all ranks, if they came along to this collective."""
        return self.call.brought if self.call is not None else None

    def reach(self, call: Call, deadline: Deadline, patient: bool) -> list[int]:
        """Come, and return the ranks that did not in time."""
        self.call = call
        if self.size == 1:
            return []
        if self.board is None:
            self._arrive_far(call, deadline, patient)
            return []
        return self._come(call, deadline, patient)

    def _come(self, call: Call, deadline: Deadline, patient: bool) -> list[int]:
        board, seq = self.board, call.seq
        assert board is not None
        if self.far is not None:
            self.far.begin(seq, str(call))
        self.prepare(call)
        board.come(seq, call.signature, f"{call.detail}\x1f{call.line}")
        if self._relay is not None:
            brought = call.payload[0].nbytes if call.brought else 0
            if self._relay.meet(seq, brought, deadline, self.look, patient):
                return []
        elif wait_until(lambda: board.all_came(seq), deadline, self.look, patient):
            return []
        return self._absent()

    def _arrive_far(self, call: Call, deadline: Deadline, patient: bool) -> None:
        mine = f"{call.signature}\0{call.detail}\x1f{call.line}".encode()[:RECORD].ljust(
            RECORD, b"\0"
        )
        everyone = bytearray(RECORD * self.size)
        if self.far is not None:
            self.far.begin(call.seq, str(call))
        self.prepare(call)
        assert self._iallgather is not None
        request = self._iallgather(mine, everyone)
        if not wait_until(request.Test, deadline, self.look, patient):
            raise self.late(deadline)
        records = [bytes(everyone[r * RECORD : (r + 1) * RECORD]) for r in range(self.size)]
        pairs = [
            record.rstrip(b"\0").decode(errors="replace").partition("\0") for record in records
        ]
        if any(first != pairs[self.rank][0] for first, _, _ in pairs):
            raise self._mismatch(
                [first for first, _, _ in pairs], [detail for _, _, detail in pairs]
            )
        if call.wants is not None:
            self._check_details([detail for _, _, detail in pairs])

    # ---- what went wrong ----

    def _at(self) -> str:
        call = self.call
        return f"collective {call.seq}, {call}" if call is not None else "a collective"

    def _mismatch(self, signatures: list[str], details: list[str]) -> DistMismatchError:
        groups: dict[str, list[int]] = {}
        for rank, signature in enumerate(signatures):
            groups.setdefault(signature, []).append(rank)
        most = max(groups.values(), key=len)
        lines = []
        for signature, members in groups.items():
            where = sorted({details[rank].rpartition("\x1f")[2] for rank in members})
            lines.append(f"  {self._names(members)}: {signature} at {', '.join(where)}")
        odd = [rank for members in groups.values() if members is not most for rank in members]
        number = self.call.seq if self.call is not None else 0
        return DistMismatchError(
            f"collective {number} of the group is not the same on all ranks:\n" + "\n".join(lines),
            [self.ranks[rank] for rank in odd],
        )

    def _check_details(self, details: list[str]) -> None:
        """For collectives whose sizes differ by pair: every rank judges all pairs, so all come to
        one verdict.
        """
        call = self.call
        assert call is not None
        judge: Any = call.wants
        told_sizes = [text.partition("\x1f")[0] for text in details]
        if len(set(told_sizes)) > 1:  # of equal parts all tell the same
            call.brought = None
        verdict = judge(told_sizes)
        if verdict:
            *pair, problem = verdict
            told = [
                f"rank {self.ranks[rank]} at {details[rank].rpartition(chr(31))[2]}"
                for rank in pair
            ]
            raise DistMismatchError(
                f"{self._at()}: {told[0]} {problem.format(told[1])}",
                [self.ranks[rank] for rank in pair],
            )

    def _names(self, members: Sequence[int]) -> str:
        numbers = ", ".join(str(self.ranks[rank]) for rank in members)
        return f"rank {numbers}" if len(members) == 1 else f"ranks {numbers}"

    def look(self) -> None:
        """Raise if a peer has died, or has given up on a collective."""
        gone = self._unfinished(self.peers.gone())
        left = self._unfinished(self.board.gave_up()) if self.board is not None else []
        if gone or left:
            self._fail(gone, left)
        self._look_far()

    def _unfinished(self, absent: list[int]) -> list[int]:
        """A rank that was done with this collective may have left: what it had to give is there."""
        call = self.call
        if self.board is None or call is None:
            return absent
        return [rank for rank in absent if self.board.finished(rank) < call.seq]

    def _fail(self, gone: list[int], left: list[int]) -> None:
        """Raise, and name the ranks that failed first: others may have ended because of them."""
        causes = [rank for rank in sorted({*gone, *left}) if not self._follows(rank)]
        gone = [rank for rank in gone if rank in causes or not causes]
        if gone:
            also = self._ended_too(gone)
            told = f"; {self._names(also)} on other machines ended too, or left" if also else ""
            raise DistPeerDiedError(
                f"{self._at()}: the process of {self._names(gone)} has ended"
                f"{self._where(gone)}{self._reasons(gone, '; ')}{told}",
                [self.ranks[rank] for rank in (*gone, *also)],
            )
        left = [rank for rank in left if rank in causes or not causes]
        missing = self._absent()
        missed = f"; still missing: {self._names(missing)}" if missing else ""
        message = f"{self._at()}: {self._names(left)} gave up{self._reasons(left, ': ')}{missed}"
        heard = [words for rank in left if (words := self._last_words(rank))]
        raise follow(message, heard, [self.ranks[rank] for rank in left])

    def _ended_too(self, gone: list[int]) -> list[int]:
        """Ranks of other machines whose connection has ended: a rank of this machine may have ended
        because of them, in a message to them, which leaves no words.
        """
        if self._wires is None:
            return []
        here = self.facts[self.rank].node
        away = {rank for rank in self._wires.ended() if self.facts[rank].node != here}
        return sorted(away - set(gone))

    def _follows(self, rank: int) -> bool:
        """Did `rank` give up because another had failed?"""
        return self.board is not None and self.board.last_words(rank)[1]

    def _reasons(self, ranks: Sequence[int], before: str) -> str:
        heard = [words.text for rank in ranks if (words := self._last_words(rank))]
        told = "; ".join(heard)
        return before + told if told else ""

    def _where(self, ranks: Sequence[int]) -> str:
        """What the ranks did last."""
        if self.far is not None:
            last = {rank: self.far.came_last_to(rank) for rank in ranks}
            told = [
                f"rank {self.ranks[r]} waited last in {text}" for r, text in last.items() if text
            ]
            return f" ({'; '.join(told)})" if told else ""
        if self.board is None:
            return ""
        parts = []
        for rank in ranks:
            seq = self.board.arrived(rank)
            if seq:
                signature, detail = self.board.texts(rank, seq)
                parts.append(
                    f"rank {self.ranks[rank]} came last to collective {seq}, {signature} at "
                    f"{detail.rpartition(chr(31))[2]}"
                )
            else:
                parts.append(f"rank {self.ranks[rank]} has come to no collective")
        return f" ({'; '.join(parts)})"

    def _last_words(self, rank: int) -> LastWords | None:
        """What a rank left on the board when it failed."""
        return self.board.last_words(rank)[0] if self.board is not None else None

    def _look_far(self) -> None:
        """Raise if a rank has given up or ended, as the store tells; asked only where there are
        several machines.
        """
        if self.far is None:
            return
        self.far.poke()
        failures = self.far.failures()
        gone = {*self.far.ended(), *self._disconnected()}
        if ended := sorted(gone - failures.keys()):
            raise DistPeerDiedError(
                f"{self._at()}: the process of {self._names(ended)} has ended or left the group"
                f"{self._where(ended)}",
                [self.ranks[rank] for rank in ended],
            )
        if failures:
            told = "; ".join(f"rank {self.ranks[r]} gave up: {w.text}" for r, w in failures.items())
            message, spoke = f"{self._at()}: {told}", [self.ranks[rank] for rank in failures]
            raise follow(message, failures.values(), spoke)

    def _disconnected(self) -> list[int]:
        """Ranks whose connection ended so long ago that their last words would have been heard."""
        if self._wires is None:
            return []
        now = time.monotonic()
        for rank in self._wires.ended():
            self._ends.setdefault(rank, now)
        return [rank for rank, at in self._ends.items() if at < now - LAST_WORDS]

    def _absent(self) -> list[int]:
        call = self.call
        if self.far is not None:
            return self.far.missing()
        if self.board is None or call is None:
            return []
        return self.board.absent(call.seq)

    def late(self, deadline: Deadline) -> DistTimeoutError:
        """The error of a wait that passed its deadline: who is missing, what is known of them."""
        if self.far is not None:
            missing, who = self._late_far(self.far)
        elif missing := self._absent():
            states = {rank: state_of(self.facts[rank].pid) for rank in missing}
            told = ", ".join(
                f"rank {self.ranks[rank]} (process {self.facts[rank].pid}, {state})"
                for rank, state in states.items()
            )
            who = f"{told} did not come{self._where(missing)}"
        else:
            who = "all ranks came, but one did not go on"
        return DistTimeoutError(
            f"{self._at()}: timed out after {deadline.seconds:g} s; {who}",
            [self.ranks[rank] for rank in missing],
        )

    def _late_far(self, far: Far) -> tuple[list[int], str]:
        """Who is missing where there are several machines, and why it may be that nobody knows."""
        if silent := far.silence():
            here = self.facts[self.rank].node
            away = [rank for rank in range(self.size) if self.facts[rank].node != here]
            return away, (
                f"{self._names(away)} cannot be asked for: the store has been silent for "
                f"{silent:.1f} s, so the "
                f"machines may be cut off from each other{self._where(away)}"
            )
        if missing := far.missing():
            return missing, f"{self._names(missing)} did not come{self._where(missing)}"
        return [], "all ranks came, but one did not go on"

    def look_at(self, call: Call, peer: int | None) -> None:
        """For messages: raise if the peer (any, if None) has died."""
        ended = set(self.peers.gone())
        failed: set[int] = set()
        if self.far is not None:
            self.far.poke()
            failed = set(self.far.failures())
            ended |= set(self.far.ended())
        if self._wires is not None:
            ended = self._wires.over()  # what they sent before has been received
        gone = [rank for rank in sorted(ended | failed) if peer in (None, rank)]
        if gone and (peer is not None or len(gone) == self.size - 1):
            others = self._wires.ended() if self._wires is not None else ended
            also = sorted(others - set(gone))  # one of them may be why it ended
            told = f", as has that of {self._names(also)}" if also else ""
            raise DistPeerDiedError(
                f"{call}: the process of {self._names(gone)} has ended{told}",
                [self.ranks[rank] for rank in (*gone, *also)],
            )

    def late_message(self, call: Call, peer: int | None, deadline: Deadline) -> DistTimeoutError:
        """The error of a message that did not go or come in time."""
        who = "any rank" if peer is None else f"rank {self.ranks[peer]}"
        return DistTimeoutError(
            f"{call} with {who} was not complete after {deadline.seconds:g} s",
            [] if peer is None else [self.ranks[peer]],
        )

    def finish(self, call: Call) -> None:
        """Say that the collective is complete here."""
        if self.board is not None:
            self.board.finish(call.seq)

    def give_up(self, error: BaseException) -> None:
        """Leave word for the others that this rank has failed in a collective."""
        words = LastWords.of(error)
        if self.board is not None:
            seq = self.call.seq if self.call is not None else 0
            self.board.give_up(max(1, seq), words, isinstance(error, DistBackendError))
        if self.far is not None:
            self.far.give_up(words)
        if self.board is not None or self.far is not None:
            return
        with contextlib.suppress(RuntimeError):  # out of memory: or no store; others see our end
            self._store.set(f"failed/{self.rank}", words.text[:2000])

    def close(self) -> None:
        """Release descriptors and memory."""
        self.peers.close()
        if self.far is not None:
            self.far.close()
        if self._wires is not None:
            self._wires.close()
        if self.mates is not None:
            self.mates.board.close()
        if self.board is not None and (self.mates is None or self.board is not self.mates.board):
            self.board.close()
