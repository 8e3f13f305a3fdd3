"""DataLoader: a data set, an order and a way to join samples make an iterable of batches."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, Protocol, TypeVar

from taeda import Generator

from ._utils.collate import default_collate, default_convert
from ._utils.here import get_worker_info
from ._utils.options import check_order, check_streaming, check_workers
from ._utils.passes import Pass, SinglePass
from ._utils.place import Place, beginning, restored
from .dataset import Dataset, IterableDataset
from .sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler

# names that libraries test passes by
_BaseDataLoaderIter, _SingleProcessDataLoaderIter = Pass, SinglePass
# and by which they annotate
_collate_fn_t = Callable[[list[Any]], Any]
_worker_init_fn_t = Callable[[int], None]


class _DatasetKind:
    """By index, or by iteration: what libraries that build loaders of their own ask for."""

    Map, Iterable = 0, 1


def __getattr__(name: str) -> Any:
    if name == "_MultiProcessingDataLoaderIter":  # the same
        from ._utils.multi import MultiPass

        return MultiPass
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = ["DataLoader", "default_collate", "default_convert", "get_worker_info"]

T_co = TypeVar("T_co", covariant=True)

_FIXED = frozenset(
    ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")
)


class Samples(Protocol[T_co]):
    """Any data set by index: a list, a range, an array."""

    def __getitem__(self, index: int, /) -> T_co:
        """The sample."""


class _Forever(Sampler[None]):
    """Stands for the sampler of an iterable data set, which has its own order."""

    def __iter__(self) -> Iterator[None]:
        return itertools.repeat(None)


class DataLoader(Generic[T_co]):
    """Iterates over batches of a data set.

    `dataset` has `__getitem__` and `__len__`, or is an IterableDataset. The order is that of
    `sampler`, of `batch_sampler` (which gives lists of indices), random with `shuffle`, or 0, 1,
    2...; samples are joined by `collate_fn`. With `batch_size=None` samples come singly. Random
    orders draw from `generator`, or from the global stream.

    `num_workers` processes fetch batches, `prefetch_factor` (2) of each ahead, started by
    `multiprocessing_context` and prepared by `worker_init_fn(worker)`. They live for one iteration,
    or with `persistent_workers` as long as the loader. Batches keep the sampler's order unless
    `in_order` is False. RuntimeError if one takes longer than `timeout` seconds, or if a worker
    dies; an exception in a worker is raised here as the same type.

    Besides the field's options: `seed_batches` makes random numbers depend on the batch and not on
    the worker that fetches it; after `watchdog` seconds without a batch (0: never) the stacks of
    all workers are printed; `progress` shows how far the epoch is, under that title if it is a
    text.

    Args:
        dataset: a map with `__getitem__` and `__len__`, or an IterableDataset.
        batch_size: samples of a batch, at least 1 (1); None: samples come singly.
        shuffle: whether the order is random (None: no); not with `sampler`.
        sampler: iterable of indices (None).
        batch_sampler: iterable of lists of indices (None); not with `batch_size`, `shuffle`,
            `sampler` or `drop_last`.
        num_workers: number of processes that fetch, at least 0 (0: this one fetches).
        collate_fn: function from a list of samples to a batch (None: `default_collate`, or
            `default_convert` without batches).
        pin_memory: whether batches are copied to page-locked memory (False).
        drop_last: whether a last batch that is not full is left out (False).
        timeout: seconds to wait for a batch of a worker, at least 0 (0: without end).
        worker_init_fn: function that each worker calls with its number when it starts (None).
        multiprocessing_context: name of a start method, or a context (None: the default).
        generator: where random numbers come from (None: the global stream).
        prefetch_factor: batches that each worker fetches ahead (None: 2 with workers).
        persistent_workers: whether workers outlive an iteration (False).
        pin_memory_device: device to pin for, deprecated ("").
        in_order: whether batches keep the sampler's order (True).
        seed_batches: whether random numbers depend on the batch, not the worker (False).
        watchdog: seconds without a batch after which stacks are printed (60; 0: never).
        progress: whether progress is shown, or its title (False).

    >>> list(DataLoader(range(5), batch_size=2))
    [tensor([0, 1]), tensor([2, 3]), tensor([4])]
    """

    def __init__(
        self,
        dataset: Dataset[T_co] | Samples[T_co],
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Sampler[Any] | Iterable[Any] | None = None,
        batch_sampler: Sampler[list[Any]] | Iterable[list[Any]] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[Any], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: Any = None,
        generator: Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
        seed_batches: bool = False,
        watchdog: float = 60,
        progress: bool | str = False,
    ) -> None:
        check_workers(num_workers, timeout, prefetch_factor, persistent_workers, watchdog)
        self._streams = isinstance(dataset, IterableDataset)
        if self._streams:
            check_streaming(shuffle, sampler, batch_sampler)
        check_order(batch_size, shuffle, sampler, batch_sampler, drop_last)
        self.dataset: Any = dataset
        self.num_workers = num_workers
        self.prefetch_factor = 2 if num_workers and prefetch_factor is None else prefetch_factor
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.in_order = in_order
        self.generator = generator
        self._set_order(batch_size, bool(shuffle), sampler, batch_sampler, drop_last)
        if collate_fn is None:
            collate_fn = default_collate if self._auto_collation else default_convert
        self.collate_fn = collate_fn
        self.persistent_workers = persistent_workers
        self.progress = progress
        self.watchdog = watchdog
        self.seed_batches = seed_batches
        self._length_told: int | None = None
        self._iterator: Pass | None = None
        self._latest: weakref.ref[Pass] | None = None
        self._resume: dict[str, Any] | None = None
        self.__initialized = True

    def _set_order(
        self, batch_size: int | None, shuffle: bool, sampler: Any, batch_sampler: Any, drop: bool
    ) -> None:
        """What gives the indices, and how many make a batch."""
        if sampler is None:
            sampler = self._order(shuffle)
        if batch_sampler is not None:
            batch_size, drop = None, False
        elif batch_size is not None:
            batch_sampler = BatchSampler(sampler, batch_size, drop)
        self.batch_size = batch_size
        self.drop_last = drop
        self.sampler = sampler
        self.batch_sampler = batch_sampler

    def _order(self, shuffle: bool) -> Sampler[Any]:
        if self._streams:
            return _Forever()
        if shuffle:
            return RandomSampler(self.dataset, generator=self.generator)
        return SequentialSampler(self.dataset)

    # libraries that change a loader after it is made lift this for a moment
    __initialized = False

    @property
    def _dataset_kind(self) -> int:
        return _DatasetKind.Iterable if self._streams else _DatasetKind.Map

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _FIXED and self.__initialized:
            raise ValueError(
                f"{name} attribute should not be set after {type(self).__name__} is initialized"
            )
        super().__setattr__(name, value)

    @property
    def multiprocessing_context(self) -> Any:
        """What starts the workers; None for the default."""
        return self._context

    @multiprocessing_context.setter
    def multiprocessing_context(self, context: Any) -> None:
        if context is not None:
            from ._utils.start import checked_context  # loads multiprocessing

            context = checked_context(context, self.num_workers)
        self._context = context

    @property
    def _auto_collation(self) -> bool:
        return self.batch_sampler is not None

    @property
    def _index_sampler(self) -> Any:
        """What gives the loader its indices: lists of them, or without batching single ones."""
        return self.batch_sampler if self._auto_collation else self.sampler

    def __iter__(self) -> Iterator[Any]:
        made = (
            self._pass_of_persistent_workers() if self.persistent_workers else self._get_iterator()
        )
        self._latest = weakref.ref(made)
        return made

    def _get_iterator(self) -> Pass:  # libraries call it by this name
        if not self.num_workers:
            return SinglePass(self)
        from ._utils.multi import MultiPass  # loads much, which only workers need

        return MultiPass(self)

    def _pass_of_persistent_workers(self) -> Pass:
        if self._iterator is not None and self._iterator.usable:
            self._iterator.reset()
        else:
            self._iterator = self._get_iterator()
        return self._iterator

    # ---- resuming ----

    def state_dict(self) -> dict[str, Any]:
        """Where the latest iterator stands, to be saved with a checkpoint.

        A dict of plain values and small tensors; `load_state_dict` on a loader made alike goes on
        with the next batch. It holds the seeds and generator states that the order and the workers'
        random numbers follow from, not the order. Without workers samples draw from the program's
        own generators, which a checkpoint keeps by itself.
        """
        if self._resume is not None:
            return self._resume
        latest = None if self._latest is None else self._latest()
        state = None if latest is None else latest.state_dict()
        return beginning(self) if state is None else state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Let the next iterator go on where `state_dict` was taken.

        The batches are the same for any number of workers. Random numbers drawn in workers are the
        same for the same number of workers, and with `seed_batches` for any. An iterable data set
        goes on by its own `load_state_dict` if it has one, otherwise by reading past what was
        given. ValueError if the state does not fit the loader.
        """
        restored(self, state_dict)
        self._resume = state_dict

    def _resumed(self) -> Place | None:
        """The place that the pass which begins now goes on from."""
        state, self._resume = self._resume, None
        return None if state is None else restored(self, state)

    def __len__(self) -> int:
        """The number of batches; for an iterable data set what its own `__len__` lets expect."""
        if not self._streams:
            return len(self._index_sampler)
        self._length_told = len(self.dataset)
        return self._expected_length()

    def _expected_length(self) -> int:
        if not self._streams:
            return len(self._index_sampler)
        length = len(self.dataset)
        if self.batch_size is None:
            return length
        rest = 0 if self.drop_last else self.batch_size - 1
        return (length + rest) // self.batch_size
