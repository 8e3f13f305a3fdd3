"""Ranks of other machines, seen through the store: how far each has come, why one gave up, whose
process has ended.

A thread asks, and only while a collective waits: a machine that cannot be reached silences the
thread, never the wait, which keeps its deadline. Every rank leaves a will with the store's server,
which carries it out when the connection ends.
"""

from __future__ import annotations

import contextlib
import threading
import time
from datetime import timedelta

from .._errors import DistError
from .._stores import Store
from .words import LastWords

__all__ = ["Far"]

ASK_EVERY = 0.2  # seconds between questions
PATIENCE = timedelta(seconds=5)  # for one answer
SILENT = 1.0  # seconds without an answer after which the store counts as out of reach
GRACE = 1.0  # seconds in which the last values of a process that has ended may still come
SEEN = ("arrived", "failed", "ended")


class Far:
    """The members of a group on several machines, as this one sees them. Numbers are the group's."""

    def __init__(self, store: Store, rank: int, size: int) -> None:
        clone = getattr(store, "clone", None)
        self._store: Store = clone() if clone else store
        self._store.set_timeout(PATIENCE)
        self._rank, self._size = rank, size
        self._keys = [f"{name}/{other}" for name in SEEN for other in range(size)]
        self._store.multi_set([f"{name}/{rank}" for name in SEEN], ["0", "", ""])
        self._store.set(f"here/{rank}", "")
        self._will = self._store._leave_will(f"ended/{rank}", "1")
        self._ready = False  # have all ranks filled in their keys?
        self._pending = 0, ""  # the collective that waits: its number, and what is called where
        self._published = 0
        self._words, self._told = "", threading.Event()
        self._poked, self._closed = threading.Event(), False
        self._arrived = [(0, "")] * size
        self._failed = [""] * size
        self._ended: dict[int, float] = {}  # when its end was heard of
        self._asked = self._heard = time.monotonic()
        self._thread: threading.Thread | None = None

    # ---- the side that waits ----

    def begin(self, seq: int, text: str) -> None:
        """A collective begins. Costs nothing: it is told to others only if it waits."""
        self._pending = seq, text

    def poke(self) -> None:
        """Something waits: ask, beside it, what has become of the others."""
        if self._thread is None:
            self._asked = self._heard = time.monotonic()
            self._thread = threading.Thread(target=self._run, name="taeda-far", daemon=True)
            self._thread.start()
        self._poked.set()

    def missing(self) -> list[int]:
        """Who has not come to the collective that waits, as far as is known."""
        seq = self._pending[0]
        return [r for r, (came, _) in enumerate(self._arrived) if r != self._rank and came < seq]

    def came_last_to(self, rank: int) -> str:
        """The last collective for which a rank was seen to wait, in words; empty for none."""
        seq, text = self._arrived[rank]
        return f"collective {seq}, {text}" if seq else ""

    def failures(self) -> dict[int, LastWords]:
        """Why ranks gave up."""
        return {rank: LastWords.unpack(text) for rank, text in enumerate(self._failed) if text}

    def ended(self) -> list[int]:
        """Ranks whose process has ended, or left the group, and whose last values had time to come."""
        before = time.monotonic() - GRACE
        return [rank for rank, at in sorted(self._ended.items()) if at < before]

    def silence(self) -> float:
        """For how many seconds the store has not answered; 0 while it does."""
        waited = time.monotonic() - self._heard
        return waited if self._asked > self._heard and waited > SILENT else 0.0

    def give_up(self, words: LastWords) -> None:
        """Leave word for the others; returns when they can read it, or after a second."""
        self._words = words.pack()
        self.poke()
        self._told.wait(SILENT)

    def close(self) -> None:
        """End the thread and the connections. To the others this rank has left."""
        self._closed = True
        self._poked.set()
        if self._will is not None:
            self._will.close()

    # ---- the thread that asks ----

    def _run(self) -> None:
        while not self._closed:
            self._poked.wait()
            self._poked.clear()
            self._asked = time.monotonic()
            try:
                self._tell()
                self._ask()
            except DistError:  # `silence` tells of it, if it lasts
                time.sleep(ASK_EVERY)
                continue
            self._heard = time.monotonic()
            time.sleep(0.0 if self._words and not self._told.is_set() else ASK_EVERY)
        with contextlib.suppress(DistError, AttributeError):  # a store of the user's has no end
            self._store.close()  # type: ignore[attr-defined]  # a clone of a TCPStore has

    def _tell(self) -> None:
        seq, text = self._pending
        if seq != self._published:
            self._store.set(f"arrived/{self._rank}", f"{seq} {text}")
            self._published = seq
        if self._words and not self._told.is_set():
            self._store.set(f"failed/{self._rank}", self._words[:2000])
            self._told.set()

    def _ask(self) -> None:
        # a rank that has not begun the group has no keys, and nobody waits for them
        if not self._ready:
            self._ready = self._store.check([f"here/{other}" for other in range(self._size)])
            if not self._ready:
                return
        found = [value.decode(errors="replace") for value in self._store.multi_get(self._keys)]
        size, now = self._size, time.monotonic()
        heads = [text.partition(" ") for text in found[:size]]
        self._arrived = [(int(seq), text) for seq, _, text in heads]
        self._failed = [w if r != self._rank else "" for r, w in enumerate(found[size : 2 * size])]
        for rank, word in enumerate(found[2 * size :]):
            if word and rank != self._rank:
                self._ended.setdefault(rank, now)
