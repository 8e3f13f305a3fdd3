"""Where the ranks of one machine write what they are about to do, so that each sees who is missing
and who differs.

A board is memory without a name (memfd), so nothing is left behind however the processes end. Every
rank has a row: the number of the last collective it has come to, the number of one it gave up,
counters for barriers, and four slots with the texts of its last collectives, and room for why it
gave up. A rank writes only its own row. A row's number is written after its slot, and the
processors that we run on (x86-64) show stores of one core to the others in their order.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import struct
from collections.abc import Sequence
from datetime import timedelta
from functools import lru_cache

import taeda
from taeda import Tensor

from .._stores import Store
from .words import LastWords

__all__ = ["LITTLE", "Board", "open_board", "open_foreign"]

LITTLE = 16 << 10  # bytes that a rank may bring along

SLOT = 1024
SLOTS = 4
WORDS = 64 + SLOT * SLOTS  # where the last words of a rank begin in its row
ROW = WORDS + SLOT
_TEXT = struct.Struct("<HH")  # bytes of the detail, and of the signature, which come after it
ARRIVED, GAVE_UP, BARRIER, DONE, WINDOW, PLACE = 0, 1, 2, 3, 4, 5  # words of a row


@lru_cache(maxsize=1000)  # a training loop says the same again and again
def _texts(signature: str, detail: str) -> tuple[bytes, bytes]:
    """What a slot holds, and the part of it that all ranks must have alike, from byte 2 on."""
    first = signature.encode()[: SLOT - 300]
    second = detail.encode()[: SLOT - 4 - len(first)]
    texts = _TEXT.pack(len(second), len(first)) + first + second
    return texts, texts[2 : 4 + len(first)]


def open_foreign(pid: int, descriptor: int) -> int:
    """A descriptor of our own for the memory that another process of the same user holds."""
    return os.open(f"/proc/{pid}/fd/{descriptor}", os.O_RDWR)  # half-written: memory, no file


def open_board(
    store: Store,
    key: str,
    pids: Sequence[int],
    mine: int,
    timeout: timedelta,
    rows: tuple[int, int] | None = None,
) -> Board | None:
    """The board of processes of one machine, made by the first; None where one cannot open the
    memory of another.

    `key` is the board's own in the store, `mine` this process's place among `pids`. `rows`, how
    many the board has and which is this process's, is for a board that tells of other machines too.
    """
    size, row = rows or (len(pids), mine)
    descriptor = -1
    try:
        if mine == 0:
            descriptor = Board.create(size)
            store.set(key, str(descriptor))
        else:
            store.wait([key], timeout)
            with contextlib.suppress(OSError):  # another user's: all are told, and do without
                descriptor = open_foreign(pids[0], int(store.get(key)))
        store.set(f"{key}/{mine}", str(descriptor))
        keys = [f"{key}/{number}" for number in range(len(pids))]
        store.wait(keys, timeout)  # until then the others open what the first holds
        if any(int(value) < 0 for value in store.multi_get(keys)):
            return None
        return Board(descriptor, size, row)
    finally:
        if descriptor >= 0:
            os.close(descriptor)  # the map keeps the memory


class Board:
    """The board of a group of `size` ranks; `mine` is the row of this one."""

    def __init__(self, descriptor: int, size: int, mine: int) -> None:
        self.size, self.mine = size, mine
        self._map = mmap.mmap(descriptor, size * (ROW + 2 * LITTLE))
        self._little = taeda.frombuffer(self._map, dtype=taeda.uint8, offset=size * ROW)
        self._bytes = memoryview(self._map)
        self._words = self._bytes.cast("q")
        self._row_words = ROW // 8
        self.others = [rank for rank in range(size) if rank != mine]
        self._arrived = [rank * self._row_words + ARRIVED for rank in self.others]
        self._barriers = [rank * self._row_words + BARRIER for rank in self.others]
        self._gave_up = [rank * self._row_words + GAVE_UP for rank in self.others]
        self._turn = 0
        self._common = b""  # what the others must have written as well

    @staticmethod
    def create(size: int) -> int:
        """A descriptor of the memory for a board, zeroed."""
        descriptor = os.memfd_create("taeda-board")
        os.ftruncate(descriptor, size * (ROW + 2 * LITTLE))
        return descriptor

    def _slot(self, rank: int, seq: int) -> int:
        return rank * ROW + 64 + (seq % SLOTS) * SLOT

    def little(self, rank: int, seq: int, nbytes: int) -> Tensor:
        """Memory for what `rank` brings along to collective `seq`.
        There are two places for each: one is read while the next is written.
        """
        at = (2 * rank + seq % 2) * LITTLE
        return self._little[at : at + nbytes]

    def come(self, seq: int, signature: str, detail: str) -> None:
        """Say that this rank has come to collective `seq`."""
        texts, self._common = _texts(signature, detail)
        self.write(self.mine, seq, texts, b"")

    def written(self, rank: int, seq: int) -> bytes:
        """The texts that `rank` has written in its row when it came to collective `seq`."""
        at = self._slot(rank, seq)
        return bytes(self._bytes[at : at + 4 + sum(_TEXT.unpack_from(self._bytes, at))])

    def write(self, rank: int, seq: int, texts: bytes, values: bytes) -> None:
        """Write the row of `rank`, one's own or that of a rank of another machine, and then its
        number. `values` are what it brought along.
        """
        at = self._slot(rank, seq)
        self._map[at : at + len(texts)] = texts
        if values:
            start = self._place(rank, seq)
            self._bytes[start : start + len(values)] = values
        self._words[rank * self._row_words + ARRIVED] = seq

    def brought(self, rank: int, seq: int, nbytes: int) -> bytes:
        """The bytes that `rank` brought along to collective `seq`."""
        start = self._place(rank, seq)
        return bytes(self._bytes[start : start + nbytes])

    def _place(self, rank: int, seq: int) -> int:
        return self.size * ROW + (2 * rank + seq % 2) * LITTLE

    def came(self, ranks: Sequence[int], seq: int) -> bool:
        """Have these ranks come to collective `seq`?"""
        return all([self.arrived(rank) >= seq for rank in ranks])  # noqa: C419 - polled

    def all_came(self, seq: int) -> bool:
        words = self._words
        for at in self._arrived:  # noqa: SIM110 - polled: a generator costs four times as much
            if words[at] < seq:
                return False
        return True

    def absent(self, seq: int) -> list[int]:
        """The ranks that have not come to collective `seq`."""
        return [rank for rank in self.others if self.arrived(rank) < seq]

    def arrived(self, rank: int) -> int:
        """The number of the last collective that `rank` has come to."""
        return self._words[rank * self._row_words + ARRIVED]

    def differing(self, seq: int) -> list[int]:
        """The ranks whose signature of collective `seq`, to which this rank has come, is not its own."""
        memory, ours, wrong = self._map, self._common, []
        for rank in self.others:
            at = self._slot(rank, seq) + 2
            if memory[at : at + len(ours)] != ours:
                wrong.append(rank)
        return wrong

    def texts(self, rank: int, seq: int) -> tuple[str, str]:
        """Signature and detail of collective `seq` on `rank`, if it is one of its last four."""
        at = self._slot(rank, seq)
        second, first = _TEXT.unpack_from(self._bytes, at)
        start = at + 4
        words = (
            bytes(self._bytes[start : start + first]),
            bytes(self._bytes[start + first : start + first + second]),
        )
        return words[0].decode(errors="replace"), words[1].decode(errors="replace")

    def finish(self, seq: int) -> None:
        """Say that collective `seq` is complete here."""
        self._words[self.mine * self._row_words + DONE] = seq

    def finished(self, rank: int) -> int:
        """The number of the last collective that is complete on `rank`."""
        return self._words[rank * self._row_words + DONE]

    def offer(self, descriptor: int) -> None:
        """Show the others the descriptor of a window."""
        self._words[self.mine * self._row_words + WINDOW] = descriptor

    def offered(self, rank: int) -> int:
        """The descriptor that `rank` showed last."""
        return self._words[rank * self._row_words + WINDOW]

    def lie(self, place: int) -> None:
        """Say where the values of this rank's collective lie: a number that is the same for
        corresponding memory.
        """
        self._words[self.mine * self._row_words + PLACE] = place

    def lie_alike(self, place: int) -> bool:
        """Do the values of all ranks lie at `place`?
        Asked after all came, and before any leaves the collective.
        """
        words = self._words
        return all(words[rank * self._row_words + PLACE] == place for rank in self.others)

    def give_up(self, seq: int, why: LastWords, follows: bool) -> None:
        """Say that this rank does not wait for collective `seq` any longer; `follows`: because
        another rank failed.
        """
        text = why.pack().encode()[: SLOT - 8]
        at = self.mine * ROW + WORDS
        self._bytes[at : at + 4 + len(text)] = _TEXT.pack(follows, len(text)) + text
        self._words[self.mine * self._row_words + GAVE_UP] = seq

    def gave_up(self) -> list[int]:
        """The other ranks that gave up."""
        words = self._words
        for at in self._gave_up:  # hardly ever is there one, and every collective asks
            if words[at]:
                return [rank for rank in self.others if words[rank * self._row_words + GAVE_UP]]
        return []

    def last_words(self, rank: int) -> tuple[LastWords | None, bool]:
        """Why `rank` gave up, and whether another rank was the cause; None if it did not."""
        at = rank * ROW + WORDS
        follows, length = _TEXT.unpack_from(self._bytes, at)
        text = bytes(self._bytes[at + 4 : at + 4 + length])
        words = LastWords.unpack(text.decode(errors="replace")) if length else None
        return words, bool(follows)

    def next_barrier(self) -> int:
        """Come to the next barrier inside a collective; `passed` tells when all have."""
        self._turn += 1
        self._words[self.mine * self._row_words + BARRIER] = self._turn
        return self._turn

    def passed(self, turn: int) -> bool:
        words = self._words
        for at in self._barriers:  # noqa: SIM110 - polled: a generator costs four times as much
            if words[at] < turn:
                return False
        return True

    def close(self) -> None:
        """Let go of the memory."""
        self._words.release()
        self._bytes.release()
        del self._little, self._map  # closed once nothing looks at it
