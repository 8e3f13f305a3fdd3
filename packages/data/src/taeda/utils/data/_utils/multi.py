"""A pass over the data by worker processes."""

from __future__ import annotations

import math
import sys
import time
from collections import deque
from typing import Any

from taeda._core_api import warn

from .crew import Crew
from .luggage import Luggage
from .messages import END, FAILURE, Epoch, Reply, Setup
from .passes import Pass
from .place import Lane, Place, ordered
from .start import default_context

__all__ = ["MultiPass"]


class MultiPass(Pass):
    """By worker processes.

    Tasks go to the workers in turn, and their batches are given out in the same turn, so the order
    is the sampler's. A worker has at most `prefetch_factor` batches under way, here or there. An
    iterable data set ends for each worker by itself; the turn goes on among the others.
    """

    def __init__(self, loader: Any) -> None:
        self._ahead = 2 if loader.prefetch_factor is None else loader.prefetch_factor
        if self._ahead <= 0:
            raise AssertionError(
                f"prefetch_factor must be positive where workers load, got {self._ahead}"
            )
        self._crew: Crew | None = None
        self._serial = 0  # of epochs, also of those begun a second time
        self._told_of_refusal = False
        super().__init__(loader)

    @property
    def usable(self) -> bool:  # type: ignore[override] # there it is always False
        """Whether the workers live, for another epoch."""
        return self._crew is not None and bool(self._crew.members)

    def reset(self) -> None:
        """Begin another epoch with the same workers."""
        self._finished = False
        for worker, replies in enumerate(self._arrived):
            for reply in replies:
                self._hired().forget(worker, reply)
        last, resumed = self._place, self._loader._resumed()
        lanes = [Lane(streams=lane.streams) for lane in last.lanes]
        self._place = resumed or Place(last.base_seed, last.epoch + 1)
        self._place.lanes = self._place.lanes or lanes
        self._open()

    def _open(self) -> None:
        super()._open()
        loader, place = self._loader, self._place
        self._workers = loader.num_workers
        place.lanes = place.lanes or [Lane() for _ in range(self._workers)]
        if not loader._streams:
            place.turn = place.yielded % self._workers
        self._next_number = place.yielded
        self._indices = ordered(loader, place, lambda: iter(loader._index_sampler))
        self._arrived: list[deque[Reply]] = [deque() for _ in range(self._workers)]
        self._under_way = [0] * self._workers  # tasks given to a worker and not yet given out
        self._early: deque[int] = deque()  # workers in the order of their answers
        self._serial += 1
        for worker in range(self._workers):
            self._hired().begin(worker, self._epoch(worker))
        for k in range(self._ahead * self._workers):
            self._ask((place.turn + k) % self._workers)

    def _hired(self) -> Crew:
        if self._crew is None:
            self._crew = Crew(
                self._loader.multiprocessing_context or default_context(), self._setups()
            )
        return self._crew

    def _setups(self) -> list[Setup]:
        loader = self._loader
        luggage = Luggage((loader.dataset, loader.collate_fn, loader.worker_init_fn))
        return [
            Setup(
                channel=None,  # the crew makes it
                id=worker,
                num_workers=self._workers,
                base_seed=self._place.base_seed,
                luggage=luggage,
                iterable=loader._streams,
                batched=loader._auto_collation,
                drop_last=loader.drop_last,
                batch_size=loader.batch_size or 1,
                seed_batches=loader.seed_batches,
            )
            for worker in range(self._workers)
        ]

    def _epoch(self, worker: int) -> Epoch:
        lane, place = self._place.lanes[worker], self._place
        return Epoch(
            self._serial, place.epoch, place.base_seed, lane.given, lane.streams, lane.dataset
        )

    def _ask(self, worker: int) -> None:
        """Give a worker its next task, if there is one."""
        if self._place.lanes[worker].ended:
            return
        for index in self._indices:
            number, self._next_number = self._next_number, self._next_number + 1
            if number not in self._place.ahead:
                self._hired().ask(worker, number, index)
                self._under_way[worker] += 1
                return

    # ---- taking ----

    def __next__(self) -> Any:
        if self._finished:
            raise StopIteration
        if not self.usable:
            raise RuntimeError("the workers of this pass have ended; make a new iterator")
        while (worker := self._next_worker()) is not None:
            reply = self._arrived[worker].popleft()
            if reply.kind != END:
                return self._given(self._taken(worker, reply))
            self._ended(worker)
        self._over()
        raise StopIteration

    def _shutdown_workers(self) -> None:
        """End the workers at once; the pass gives nothing more."""
        if self._crew is not None:
            self._crew.dismiss(now=True)

    def _next_worker(self) -> int | None:
        """The worker whose answer comes next, once it is here; None at the end of the epoch."""
        if self._loader.in_order:
            worker = self._whose_turn()
            if worker is not None and not self._arrived[worker]:
                self._wait_for(self._arrived[worker])
            return worker
        if not any(self._under_way):
            return None
        if not self._early:
            self._wait_for(self._early)
        return self._early.popleft()

    def _whose_turn(self) -> int | None:
        place = self._place
        for _ in range(self._workers):
            if not place.lanes[place.turn].ended:
                return place.turn if self._under_way[place.turn] else None
            place.turn = (place.turn + 1) % self._workers
        return None

    def _ended(self, worker: int) -> None:
        """An iterable data set has no more for this worker."""
        self._place.lanes[worker].ended = True
        self._under_way[worker] = 0
        self._arrived[worker].clear()  # only that it has ended, again

    def _taken(self, worker: int, reply: Reply) -> Any:
        """Give out an answer, and ask for another."""
        place = self._place
        self._under_way[worker] -= 1
        place.turn = (worker + 1) % self._workers
        place.count(reply.task, self._loader._streams)
        place.lanes[worker].count(reply.streams, reply.dataset)
        self._ask(worker)
        if reply.kind == FAILURE:
            reply.data.reraise()
        return self._hired().unpacked(worker, reply)

    # ---- waiting ----

    def _wait_for(self, wanted: deque[Any]) -> None:
        """Take in answers until `wanted` has one."""
        loader, start = self._loader, time.monotonic()
        limit = start + loader.timeout if loader.timeout else math.inf
        alarm = start + loader.watchdog if loader.watchdog else math.inf
        while not wanted:
            wake = min(limit, alarm)
            self._take_in(None if wake == math.inf else wake - time.monotonic())
            now = time.monotonic()
            if not wanted and now >= limit:
                self._time_out()
            if not wanted and now >= alarm:
                alarm = math.inf
                self._raise_alarm(now - start)

    def _take_in(self, seconds: float | None) -> None:
        for worker, reply in self._hired().wait(seconds):
            if reply.refusal:
                self._tell_of(reply.refusal)
            if reply.epoch != self._serial or self._place.lanes[worker].ended:
                # an epoch that was broken off, or after the end
                self._hired().forget(worker, reply)
                continue
            self._arrived[worker].append(reply)
            self._early.append(worker)

    def _time_out(self) -> None:
        crew = self._hired()
        report = crew.report()
        crew.dismiss(now=True)
        raise RuntimeError(f"DataLoader timed out after {self._loader.timeout} seconds.\n{report}")

    def _raise_alarm(self, seconds: float) -> None:
        print(
            f"DataLoader: no batch has come for {seconds:.0f} s. Its workers:\n{self._hired().report()}",
            file=sys.stderr,
            flush=True,
        )

    def _tell_of(self, refusal: str) -> None:
        if not self._told_of_refusal:
            self._told_of_refusal = True
            warn(
                f"DataLoader: a worker could not make shared memory ({refusal}); batches are "
                "copied through a "
                "socket instead, which is slower",
            )

    def _over(self) -> None:
        super()._over()
        if self._crew and not self._loader.persistent_workers:
            self._crew.dismiss()
