"""Passes over loaders of libraries, which are no DataLoader and have what PyTorch's passes read."""

from __future__ import annotations

import itertools

import pytest

import taeda
from taeda.utils.data import dataloader


class FakeLoader:
    """As fastai's: the data set is the loader itself, and gives batches."""

    _dataset_kind = dataloader._DatasetKind.Iterable
    _IterableDataset_len_called = None
    _auto_collation = drop_last = pin_memory = persistent_workers = False
    in_order = True
    generator, prefetch_factor, timeout = None, 2, 0
    multiprocessing_context = worker_init_fn = None

    def __init__(self, workers):
        self.num_workers, self.dataset, self._index_sampler = workers, self, itertools.count()

    def __iter__(self):
        return iter([taeda.ones(2), taeda.zeros(2)])

    def collate_fn(self, batch):
        return batch


@pytest.mark.parametrize("workers", [0, 1])
def test_pass_over_a_loader_of_a_library(workers):
    kind = ("_SingleProcessDataLoaderIter", "_MultiProcessingDataLoaderIter")[workers]
    batches = getattr(dataloader, kind)(FakeLoader(workers))
    assert [batch.tolist() for batch in batches] == [[1, 1], [0, 0]]


def test_its_kind_of_data_set_is_that_of_dataloader():
    from taeda.utils.data._utils import passes

    assert dataloader._DatasetKind.Iterable == passes.ITERABLE
    loader = FakeLoader(0)
    loader._dataset_kind, loader.dataset = dataloader._DatasetKind.Map, [5, 6, 7]
    loader._index_sampler = [1, 2]
    assert list(dataloader._SingleProcessDataLoaderIter(loader)) == [6, 7]
