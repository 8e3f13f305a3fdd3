"""A worker process: takes tasks, fetches batches, sends them."""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import importlib
import os
import pickle
import queue
import signal
import threading
import time
from typing import Any

import taeda

from . import here, seeds, segments
from .channel import MOST_DESCRIPTORS, Channel
from .fetch import IterableFetcher, MapFetcher, resumed_stream, stream_state
from .messages import BATCH, END, FAILURE, Epoch, Failure, Reply, Setup, Task, sample_name
from .parcel import pack
from .status import BETWEEN, FETCHING, SENDING, Status

__all__ = ["GRACE", "run_worker"]

GRACE = 1.0  # seconds that a worker may go on with its sample after its parent has left
# bytes; a longer pickle goes through a segment, so that the socket holds every answer
_LONG = 1 << 15


def run_worker(setup: Setup) -> None:
    """The target of the process. Returns when the parent closes the channel."""
    gc.freeze()  # what was forked stays where it is: the collector need not touch its pages
    _leave_interrupts_to_parent()
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # the parent is gone
        _Worker(setup).run()


def _leave_interrupts_to_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])


class _NotPrepared(Exception):
    """Instead of a batch: worker_init_fn has failed."""

    def __init__(self, failure: Failure) -> None:
        self.failure = failure


Used = list[tuple[segments.Segment, int]]  # segments, and how many of their bytes


class _Worker:
    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._channel = Channel(setup.channel)
        self._status = Status.of_this_process()
        self._channel.send(b"", [self._status.fd])
        self._inbox: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._announced = 0
        self._leaving = False
        self._arena = here.arena = segments.Arena(self._status.fd)
        self._epoch = Epoch(0, 0, setup.base_seed)
        self._dataset: Any = None
        self._collate_fn: Any = None
        self._fetcher: Any = None
        self._ended = False
        self._given = 0
        self._failure: Failure | None = None
        self._last_streams: seeds.Streams | None = None

    def run(self) -> None:
        threading.Thread(target=self._listen, daemon=True).start()
        self._prepare()
        while (message := self._inbox.get()) is not None:
            self._handle(message)
        self._leaving = True
        faulthandler.disable()

    def _listen(self) -> None:
        """Take in messages as they come, so that the parent never waits with sending one."""
        Status.leave_signals_to_main()
        try:
            while True:
                message = pickle.loads(self._channel.receive()[0])
                if isinstance(message, Epoch):
                    self._announced = message.serial
                self._inbox.put(message)
        except EOFError:
            self._inbox.put(None)
        time.sleep(GRACE)
        if not self._leaving:
            os._exit(1)  # a sample takes for ever and nobody waits for it

    def _prepare(self) -> None:
        setup = self._setup
        taeda.set_num_threads(1)
        step = "unpickling the data set"
        try:
            self._dataset, self._collate_fn, worker_init_fn = setup.luggage.opened()
            seeds.seed_worker(setup.base_seed, setup.id)
            seed = setup.base_seed + setup.id
            here.worker_info = here.WorkerInfo(setup.id, setup.num_workers, seed, self._dataset)
            step = "in worker_init_fn"
            if worker_init_fn is not None:
                worker_init_fn(setup.id)
        except Exception as error:  # noqa: BLE001 - it is the answer to every task
            self._failure = Failure.of(error, f"{self._name}, {step}")

    @property
    def _name(self) -> str:
        return f"DataLoader worker process {self._setup.id}"

    def _handle(self, message: Epoch | Task) -> None:
        if isinstance(message, Epoch):
            self._epoch, self._fetcher, self._ended = message, None, False
            self._given = message.given
        elif not self._overtaken(message):
            self._answer(message)
        self._status.enter(BETWEEN)

    def _overtaken(self, task: Task) -> bool:
        """Whether the task belongs to an epoch that was broken off: a newer one has been announced."""
        self._arena.returned(task.returned)
        self._arena.forgotten(task.forgotten)
        return self._announced != self._epoch.serial

    # ---- one task ----

    def _answer(self, task: Task) -> None:
        self._status.begin(task.number)
        self._arena.allowed = task.may_share
        used: Used = []
        try:
            batch = self._fetched(task)
            self._status.enter(SENDING)
            data, used = self._packed(batch)
            kind: int = BATCH
        except Exception as error:  # noqa: BLE001 - it is raised in the parent
            kind, data = self._excuse(error, task)
        self._send(task, kind, data, used)

    def _excuse(self, error: Exception, task: Task) -> tuple[int, Any]:
        if isinstance(error, _NotPrepared):
            return FAILURE, error.failure
        if isinstance(error, StopIteration) and self._setup.iterable:
            self._ended = True
            return END, None
        return FAILURE, Failure.of(error, self._name + self._place(task))

    def _place(self, task: Task) -> str:
        _, phase, position = self._status.now
        sample = sample_name(task.index, position if phase == FETCHING else -1)
        step = ", while the batch was packed for the main process" if phase == SENDING else ""
        return f", batch {task.number}, {sample}{step}"

    def _fetched(self, task: Task) -> Any:
        if self._failure:
            raise _NotPrepared(self._failure)
        if self._ended:
            raise StopIteration
        if self._fetcher is None:
            self._fetcher = self._new_fetcher()
        if self._setup.seed_batches:
            self._seed(task)
        return self._fetcher.fetch(task.index)

    def _seed(self, task: Task) -> None:
        epoch, number = self._epoch, task.number
        if self._setup.iterable:  # batches are counted by each worker for itself
            number = self._setup.id + self._given * self._setup.num_workers
            self._given += 1
        seeds.seed_batch(epoch.base_seed, epoch.number, number)

    def _new_fetcher(self) -> MapFetcher | IterableFetcher:
        setup, epoch = self._setup, self._epoch
        facts = self._dataset, setup.batched, self._collate_fn
        fetcher: Any
        if setup.iterable:
            skip = epoch.given * setup.batch_size
            fetcher = resumed_stream(*facts, setup.drop_last, skip, epoch.dataset, self._status)
        else:
            fetcher = MapFetcher(*facts, self._status)
        if epoch.streams:
            seeds.restore_streams(epoch.streams)
        self._last_streams = seeds.streams()
        return fetcher

    # ---- the answer ----

    def _packed(self, batch: Any) -> tuple[Any, Used]:
        data, used = pack(batch, self._arena)
        if len(data) > _LONG and len(used) < MOST_DESCRIPTORS:
            segment = self._arena.with_bytes(memoryview(data))
            if segment:
                return len(data), [(segment, len(data)), *used]
        return data, used

    def _send(self, task: Task, kind: int, data: Any, used: Used) -> None:
        fresh = {s.id: s for s, _ in used if s.fd is not None}
        refusal, self._arena.refusal = self._arena.refusal, None
        reply = Reply(
            self._epoch.serial,
            task.number,
            kind,
            data,
            [(segment.id, nbytes) for segment, nbytes in used],
            [(segment.id, segment.memory.numel()) for segment in fresh.values()],
            self._arena.dropped(),
            self._moved_streams(),
            self._stream_state(),
            refusal,
        )
        descriptors = [segment.fd for segment in fresh.values() if segment.fd is not None]
        self._channel.send(pickle.dumps(reply, -1), descriptors)
        self._arena.sent([segment for segment, _ in used])

    def _stream_state(self) -> Any:
        return stream_state(self._dataset, self._fetcher) if self._setup.iterable else None

    def _moved_streams(self) -> seeds.Streams | None:
        now = seeds.streams()
        if now == self._last_streams:
            return None
        self._last_streams = now
        return now


def _generate_state(base_seed: int, worker_id: int) -> list[int]:
    """Four words that seed NumPy's generator of a worker, as libraries with workers of their own do it."""
    np = importlib.import_module("numpy")  # who seeds it has it

    entropy = [worker_id, base_seed & 0xFFFFFFFF, base_seed >> 32, 0]
    return [int(word) for word in np.random.SeedSequence(entropy).generate_state(4)]
