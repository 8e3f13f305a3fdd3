"""From indices to a batch: what a loader does for each entry of its sampler."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import taeda
from taeda import Tensor

from ..dataset import Subset, TensorDataset
from ..sampler import BatchSampler, RandomSampler, SequentialSampler
from .collate import default_collate

__all__ = ["IterableFetcher", "MapFetcher", "whole_batches"]

Collate = Callable[[Any], Any]


class MapFetcher:
    """Fetches samples by index."""

    def __init__(self, dataset: Any, batched: bool, collate_fn: Collate) -> None:
        self.dataset, self.batched, self.collate_fn = dataset, batched, collate_fn
        self._many = getattr(dataset, "__getitems__", None)
        self._rows = _rows_of(dataset) if batched and collate_fn is default_collate else None

    def fetch(self, index: Any) -> Any:
        """The batch of a list of indices, or without batching the sample of one."""
        if not self.batched:
            return self.collate_fn(self.dataset[index])
        if self._rows is not None and all(type(i) is int for i in index):
            return self._rows(index)
        if self._many:
            return self.collate_fn(self._many(index))
        return self.collate_fn([self.dataset[i] for i in index])


class IterableFetcher:
    """Takes samples as they come."""

    def __init__(self, dataset: Any, batched: bool, collate_fn: Collate, drop_last: bool) -> None:
        self.samples = iter(dataset)
        self.batched, self.collate_fn, self.drop_last = batched, collate_fn, drop_last

    def fetch(self, index: Any) -> Any:
        """The next batch of as many samples as `index` has entries; StopIteration at the end."""
        if not self.batched:
            return self.collate_fn(next(self.samples))
        samples = [*itertools.islice(self.samples, len(index))]
        if not samples or (self.drop_last and len(samples) < len(index)):
            raise StopIteration
        return self.collate_fn(samples)


# ---- rows of tensors: a batch is one indexing operation per tensor ----


def _is_rows(dataset: Any) -> bool:
    return type(dataset) is TensorDataset and all(
        type(t) is Tensor and t.layout is taeda.strided for t in dataset.tensors
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
        return [tensor[picked] for tensor in dataset.tensors]

    return rows


def whole_batches(dataset: Any, sampler: Any, collate_fn: Collate) -> Iterator[Any] | None:
    """All batches of rows of tensors in the usual orders, with indices that stay tensors.

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
        return _slices(tensors, n, sampler)
    if type(inner) is RandomSampler and not inner.replacement and len(inner) == n:
        return _picks(tensors, inner, sampler)
    return None


def _starts(n: int, sampler: BatchSampler) -> range:
    size = sampler.batch_size
    return range(0, n - size + 1 if sampler.drop_last else n, size)


def _slices(tensors: tuple[Tensor, ...], n: int, sampler: BatchSampler) -> Iterator[list[Tensor]]:
    size = sampler.batch_size
    for start in _starts(n, sampler):
        count = min(size, n - start)
        yield [tensor.narrow(0, start, count).clone() for tensor in tensors]


def _picks(
    tensors: tuple[Tensor, ...], inner: RandomSampler, sampler: BatchSampler
) -> Iterator[list[Tensor]]:
    size = sampler.batch_size
    for order in inner._chunks():
        n = len(order)
        for start in _starts(n, sampler):
            picked = order.narrow(0, start, min(size, n - start))
            yield [tensor.index_select(0, picked) for tensor in tensors]
