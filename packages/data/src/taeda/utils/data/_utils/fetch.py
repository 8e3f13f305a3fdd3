"""From indices to a batch: what a loader does for each entry of its sampler."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import taeda
from taeda import Tensor

from ..dataset import Subset, TensorDataset
from ..sampler import BatchSampler, RandomSampler, SequentialSampler
from . import here
from .collate import default_collate
from .plain import is_plain

if TYPE_CHECKING:  # only workers have one
    from .status import Status

__all__ = ["IterableFetcher", "MapFetcher", "resumed_stream", "stream_state", "whole_batches"]

Collate = Callable[[Any], Any]


class MapFetcher:
    """Fetches samples by index; with `status` it tells which one it is at."""

    def __init__(
        self, dataset: Any, batched: bool, collate_fn: Collate, status: Status | None = None
    ) -> None:
        self.dataset, self.batched, self.collate_fn = dataset, batched, collate_fn
        self._status = status
        self._many = getattr(dataset, "__getitems__", None)
        self._rows = _rows_of(dataset) if batched and collate_fn is default_collate else None

    def fetch(self, index: Any) -> Any:
        """The batch of a list of indices, or without batching the sample of one."""
        if not self.batched:
            return self.collate_fn(self.dataset[index])
        if self._rows is not None and all(type(i) is int for i in index):
            return self._rows(index)
        samples = self._many(index) if self._many else self._one_by_one(index)
        if self._status:
            self._status.collating()
        return self.collate_fn(samples)

    def _one_by_one(self, index: Any) -> list[Any]:
        if self._status is None:
            return [self.dataset[i] for i in index]
        samples = []
        for position, i in enumerate(index):
            self._status.at(position)
            samples.append(self.dataset[i])
        return samples


class IterableFetcher:
    """Takes samples as they come."""

    def __init__(
        self,
        dataset: Any,
        batched: bool,
        collate_fn: Collate,
        drop_last: bool,
        status: Status | None = None,
    ) -> None:
        self.samples = iter(dataset)
        self.batched, self.collate_fn, self.drop_last = batched, collate_fn, drop_last
        self.ended = False  # while it gave its last samples
        if status:
            self.samples = _told(self.samples, status)

    def fetch(self, index: Any) -> Any:
        """The next batch of as many samples as `index` has entries; StopIteration at the end."""
        if not self.batched:
            return self.collate_fn(next(self.samples))
        samples = [*itertools.islice(self.samples, len(index))]
        self.ended = len(samples) < len(index)
        if not samples or (self.drop_last and len(samples) < len(index)):
            raise StopIteration
        return self.collate_fn(samples)


def _told(samples: Iterator[Any], status: Status) -> Iterator[Any]:
    for position in itertools.count():
        status.at(position)
        try:
            sample = next(samples)
        except StopIteration:
            return
        yield sample


#: the state of a data set that has ended with its last batch: what it says of itself may be that it
#: stands at its beginning again
_ENDED = {"taeda.stream": "ended"}


def stream_state(dataset: Any, fetcher: Any = None) -> Any:
    """What an iterable data set that can be resumed says of its place; None of others."""
    if not hasattr(dataset, "load_state_dict") or not hasattr(dataset, "state_dict"):
        return None
    return _ENDED if getattr(fetcher, "ended", False) else dataset.state_dict()


def _is_ended(state: Any) -> bool:
    return isinstance(state, dict) and state.keys() == _ENDED.keys()


def resumed_stream(
    dataset: Any,
    batched: bool,
    collate_fn: Collate,
    drop_last: bool,
    skip: int = 0,
    state: Any = None,
    status: Status | None = None,
) -> IterableFetcher:
    """A fetcher that begins where another had got to: by the data set's own state, or by reading
    past `skip` samples.
    """
    if _is_ended(state):
        return IterableFetcher((), batched, collate_fn, drop_last)
    if state is not None:
        dataset.load_state_dict(state)
    fetcher = IterableFetcher(dataset, batched, collate_fn, drop_last, status)
    if state is None:
        next(itertools.islice(fetcher.samples, skip, skip), None)
    return fetcher


# ---- rows of tensors: a batch is one indexing operation per tensor ----


def _is_rows(dataset: Any) -> bool:
    return type(dataset) is TensorDataset and all(
        type(t) is Tensor and is_plain(t) for t in dataset.tensors
    )


def _rows_of(dataset: Any) -> Callable[[list[int]], list[Tensor]] | None:
    """What collating rows gives, without making the rows; None for other data sets."""
    if type(dataset) is Subset:
        inner, indices = _rows_of(dataset.dataset), dataset.indices
        return inner and (lambda index: inner([indices[i] for i in index]))
    if not _is_rows(dataset):
        return None

    def rows(index: list[int]) -> list[Tensor]:
        picked = taeda.tensor(index, dtype=taeda.int64)
        if here.arena is None:
            return [tensor[picked] for tensor in dataset.tensors]
        return [_into_shared(tensor, picked) for tensor in dataset.tensors]

    return rows


def _into_shared(tensor: Tensor, picked: Tensor) -> Tensor:
    room = None
    if not tensor.requires_grad and here.arena is not None:
        room = here.arena.empty((len(picked), *tensor.shape[1:]), tensor.dtype)
    if room is None:
        return tensor[picked]
    picked = taeda.where(picked < 0, picked + len(tensor), picked)
    return taeda.index_select(tensor, 0, picked, out=room)


def whole_batches(
    dataset: Any, sampler: Any, collate_fn: Collate
) -> tuple[Callable[[Any], list[Tensor]], Iterator[Any]] | None:
    """What makes batches of rows of tensors in the usual orders, and its entries: indices that stay tensors.

    None if anything about data set, sampler or collate_fn is unusual.
    """
    if collate_fn is not default_collate or not _is_rows(dataset):
        return None
    tensors, n = dataset.tensors, len(dataset)
    if type(sampler) is not BatchSampler or n == 0:
        return None
    inner: Any = sampler.sampler
    if getattr(inner, "data_source", None) is not dataset:
        return None
    if type(inner) is SequentialSampler:
        return partial(_slices, tensors), _ranges(n, sampler)
    if type(inner) is RandomSampler and not inner.replacement and len(inner) == n:
        return partial(_picks, tensors), _orders(inner, sampler)
    return None


def _ranges(n: int, sampler: BatchSampler) -> Iterator[tuple[int, int]]:
    """Where each batch starts, and how many it has."""
    size = sampler.batch_size
    whole, rest = divmod(n, size)
    yield from zip(range(0, whole * size, size), itertools.repeat(size))
    if rest and not sampler.drop_last:
        yield n - rest, rest


def _orders(inner: RandomSampler, sampler: BatchSampler) -> Iterator[Tensor]:
    """The indices of each batch."""
    for order in inner._chunks():
        for start, count in _ranges(len(order), sampler):
            yield order.narrow(0, start, count)


def _slices(tensors: tuple[Tensor, ...], entry: tuple[int, int]) -> list[Tensor]:
    return [tensor.narrow(0, *entry).clone() for tensor in tensors]


def _picks(tensors: tuple[Tensor, ...], picked: Tensor) -> list[Tensor]:
    return [tensor.index_select(0, picked) for tensor in tensors]
