"""DataLoader: a data set, an order and a way to join samples make an iterable of batches."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

from taeda import Generator

from ._utils.collate import default_collate, default_convert
from ._utils.fetch import IterableFetcher, MapFetcher, whole_batches
from ._utils.worker import get_worker_info
from .dataset import IterableDataset
from .sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler, draw_seed

__all__ = ["DataLoader", "default_collate", "default_convert", "get_worker_info"]

T_co = TypeVar("T_co", covariant=True)

_FIXED = frozenset(
    ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")
)


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

    >>> list(DataLoader(range(5), batch_size=2))
    [tensor([0, 1]), tensor([2, 3]), tensor([4])]
    """

    def __init__(
        self,
        dataset: Any,
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
    ) -> None:
        _check_workers(
            num_workers, timeout, prefetch_factor, persistent_workers, multiprocessing_context
        )
        self._streams = isinstance(dataset, IterableDataset)
        if self._streams:
            _check_streaming(shuffle, sampler, batch_sampler)
        _check_order(batch_size, shuffle, sampler, batch_sampler, drop_last)
        self.dataset = dataset
        self.num_workers = num_workers
        self.prefetch_factor = prefetch_factor
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.in_order = in_order
        self.generator = generator
        if sampler is None:
            sampler = self._order(bool(shuffle))
        if batch_sampler is not None:
            batch_size, drop_last = None, False
        elif batch_size is not None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        if collate_fn is None:
            collate_fn = default_collate if self._auto_collation else default_convert
        self.collate_fn = collate_fn
        self.persistent_workers = persistent_workers
        self._length_told: int | None = None
        self._made = True

    def _order(self, shuffle: bool) -> Sampler[Any]:
        if self._streams:
            return _Forever()
        if shuffle:
            return RandomSampler(self.dataset, generator=self.generator)
        return SequentialSampler(self.dataset)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _FIXED and self.__dict__.get("_made"):
            raise ValueError(
                f"{name} attribute should not be set after {type(self).__name__} is initialized"
            )
        super().__setattr__(name, value)

    @property
    def _auto_collation(self) -> bool:
        return self.batch_sampler is not None

    @property
    def _index_sampler(self) -> Any:
        """What gives the loader its indices: lists of them, or without batching single ones."""
        return self.batch_sampler if self._auto_collation else self.sampler

    def __iter__(self) -> Iterator[Any]:
        return _SingleProcessDataLoaderIter(self)

    def __len__(self) -> int:
        """The number of batches; for an iterable data set what its own `__len__` lets expect."""
        if not self._streams:
            return len(self._index_sampler)
        length = self._length_told = len(self.dataset)
        if self.batch_size is None:
            return length
        rest = 0 if self.drop_last else self.batch_size - 1
        return (length + rest) // self.batch_size


class _SingleProcessDataLoaderIter:
    """One pass over the data, in this process."""

    def __init__(self, loader: DataLoader[Any]) -> None:
        self._loader = loader
        self._base_seed = draw_seed(loader.generator)  # so that workers change no random order
        self._yielded = 0
        self._told = loader._length_told
        if loader.pin_memory:
            warnings.warn(
                "'pin_memory' argument is set as true but no accelerator is found, "
                "then device pinned memory won't be used.",
                stacklevel=3,
            )
        self._next = self._batches().__next__

    def _batches(self) -> Iterator[Any]:
        loader = self._loader
        batched, collate = loader._auto_collation, loader.collate_fn
        if loader._streams:
            fetcher: Any = IterableFetcher(loader.dataset, batched, collate, loader.drop_last)
        else:
            whole = whole_batches(loader.dataset, loader._index_sampler, collate)
            if whole is not None:
                return whole
            fetcher = MapFetcher(loader.dataset, batched, collate)
        return map(fetcher.fetch, loader._index_sampler)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        batch = self._next()
        self._yielded += 1
        if self._told is not None and self._yielded > self._told:
            self._warn_longer(self._told)
        return batch

    def _warn_longer(self, told: int) -> None:
        warnings.warn(
            f"Length of IterableDataset {self._loader.dataset} was reported to be {told} "
            f"(when accessing len(dataloader)), but {self._yielded} samples have been fetched.",
            stacklevel=3,
        )

    def __len__(self) -> int:
        return len(self._loader._index_sampler)


# ---- what may be asked of a loader ----


def _check_workers(
    num_workers: int,
    timeout: float,
    prefetch_factor: int | None,
    persistent_workers: bool,
    multiprocessing_context: Any,
) -> None:
    if num_workers < 0:
        raise ValueError(
            "num_workers option should be non-negative; use num_workers=0 to disable "
            f"multiprocessing, got {num_workers}"
        )
    if timeout < 0:
        raise ValueError(f"timeout option should be non-negative, got {timeout}")
    if num_workers == 0:
        if prefetch_factor is not None:
            raise ValueError(
                "prefetch_factor option could only be specified in multiprocessing: let "
                "num_workers > 0 to enable it, otherwise set prefetch_factor to None, got "
                f"{prefetch_factor}"
            )
        if persistent_workers:
            raise ValueError("persistent_workers option needs num_workers > 0")
        if multiprocessing_context is not None:
            raise ValueError(
                "multiprocessing_context can only be used with multi-process loading "
                f"(num_workers > 0), but got num_workers={num_workers}"
            )
        return
    if prefetch_factor is not None and prefetch_factor < 0:
        raise ValueError(f"prefetch_factor option should be non-negative, got {prefetch_factor}")
    raise NotImplementedError(
        f"DataLoader: num_workers={num_workers} asks for worker processes, which this version of "
        "taeda-data does not have yet; use num_workers=0, which loads in this process"
    )


def _check_streaming(shuffle: Any, sampler: Any, batch_sampler: Any) -> None:
    if shuffle not in (False, None):
        raise ValueError(
            "DataLoader with IterableDataset: expected unspecified shuffle option, "
            f"but got shuffle={shuffle}"
        )
    for name, value in (("sampler", sampler), ("batch_sampler", batch_sampler)):
        if value is not None:
            raise ValueError(
                f"DataLoader with IterableDataset: expected unspecified {name} option, "
                f"but got {name}={value}"
            )


def _check_order(
    batch_size: Any, shuffle: Any, sampler: Any, batch_sampler: Any, drop_last: Any
) -> None:
    if sampler is not None and shuffle:
        raise ValueError("sampler option is mutually exclusive with shuffle")
    if batch_sampler is not None:
        if batch_size != 1 or shuffle or sampler is not None or drop_last:
            raise ValueError(
                "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, "
                "and drop_last"
            )
    elif batch_size is None and drop_last:
        raise ValueError(
            "batch_size=None option disables auto-batching and is mutually exclusive with drop_last"
        )
