"""Batches: their content, order, ends, and refused options."""

from __future__ import annotations

import warnings

import pytest

import taeda
from taeda.utils.data import (
    DataLoader,
    IterableDataset,
    TensorDataset,
    get_worker_info,
)


class Stream(IterableDataset):
    def __init__(self, n, told=None):
        self.n, self.told = n, told

    def __iter__(self):
        return iter(range(self.n))

    def __len__(self):
        if self.told is None:
            raise TypeError("unknown")
        return self.told


def lists(batches):
    return [b.tolist() if isinstance(b, taeda.Tensor) else b for b in batches]


@pytest.mark.parametrize(
    ("options", "batches"),
    [
        ({}, [[0], [1], [2], [3], [4]]),
        ({"batch_size": 2}, [[0, 1], [2, 3], [4]]),
        ({"batch_size": 2, "drop_last": True}, [[0, 1], [2, 3]]),
        ({"batch_size": 9}, [[0, 1, 2, 3, 4]]),
        ({"batch_size": None}, [0, 1, 2, 3, 4]),
        ({"sampler": [4, 1, -1], "batch_size": 2}, [[4, 1], [4]]),
        ({"batch_sampler": [[1, 2], [0]]}, [[1, 2], [0]]),
        ({"collate_fn": sum, "batch_size": 2}, [1, 5, 4]),
    ],
    ids=str,
)
def test_batches(options, batches):
    loader = DataLoader(range(5), **options)
    assert lists(loader) == batches
    assert lists(loader) == batches  # a second time too
    assert len(loader) == len(batches)


@pytest.mark.parametrize(
    ("options", "batches"),
    [
        ({"batch_size": 2}, [[0, 1], [2, 3], [4]]),
        ({"batch_size": 2, "drop_last": True}, [[0, 1], [2, 3]]),
        ({"batch_size": None}, [0, 1, 2, 3, 4]),
    ],
    ids=str,
)
def test_streams(options, batches):
    assert lists(DataLoader(Stream(5), **options)) == batches


def test_shuffling_visits_everything_once_in_a_new_order():
    loader = DataLoader(range(20), batch_size=20, shuffle=True)
    (first,), (second,) = lists(loader), lists(loader)
    assert sorted(first) == sorted(second) == list(range(20))
    assert first != second


def test_an_own_generator_makes_the_order_and_leaves_the_global_one_alone():
    def order():
        generator = taeda.Generator().manual_seed(1)
        return lists(DataLoader(range(9), batch_size=9, shuffle=True, generator=generator))

    before = taeda.get_rng_state().tolist()
    assert order() == order()
    assert taeda.get_rng_state().tolist() == before


def test_one_number_is_drawn_for_each_pass_even_in_order():
    taeda.manual_seed(0)
    taeda.empty((), dtype=taeda.int64).random_()
    wanted = taeda.rand(3).tolist()
    taeda.manual_seed(0)
    list(DataLoader(range(3)))
    assert taeda.rand(3).tolist() == wanted


def test_a_stream_longer_than_it_told_warns():
    loader = DataLoader(Stream(4, told=3))
    assert len(loader) == 3
    with pytest.warns(UserWarning, match="reported to be 3 .* 4 samples") as seen:
        assert len(list(loader)) == 4
    assert len(seen) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        list(DataLoader(Stream(4, told=3)))  # nobody asked for the length


@pytest.mark.parametrize(("drop", "length"), [(False, 3), (True, 2)])
def test_length_of_streams(drop, length):
    assert len(DataLoader(Stream(5, told=5), batch_size=2, drop_last=drop)) == length
    assert len(DataLoader(Stream(5, told=5), batch_size=None)) == 5


def test_the_main_process_is_no_worker():
    assert get_worker_info() is None


def test_pinning_without_an_accelerator_warns():
    with pytest.warns(UserWarning, match="no accelerator"):
        assert lists(DataLoader([1], pin_memory=True)) == [[1]]


def test_nothing_to_shuffle():
    with pytest.raises(ValueError, match="num_samples=0"):
        DataLoader([], shuffle=True)
    assert list(DataLoader([])) == []
    assert list(DataLoader(TensorDataset(taeda.empty(0, 2)), batch_size=2)) == []


def test_nothing_prefetched():
    loader = DataLoader(range(3), num_workers=1, prefetch_factor=0)
    with pytest.raises(AssertionError, match="prefetch_factor"):
        iter(loader)


FIXED = ["batch_size", "sampler", "batch_sampler", "drop_last", "dataset", "persistent_workers"]


@pytest.mark.parametrize("name", FIXED)
def test_what_the_order_depends_on_cannot_be_changed(name):
    with pytest.raises(ValueError, match=f"{name} attribute"):
        setattr(DataLoader(range(5)), name, 1)


def test_the_rest_can():
    loader = DataLoader(range(3), batch_size=3)
    loader.collate_fn = tuple
    assert list(loader) == [(0, 1, 2)]


def test_libraries_lift_what_is_fixed_for_a_moment():
    loader = DataLoader(range(4), batch_size=2)
    loader._DataLoader__initialized = False
    loader.batch_sampler = [[3], [0]]
    loader._DataLoader__initialized = True
    assert [batch.tolist() for batch in loader] == [[3], [0]]
    with pytest.raises(ValueError, match="batch_sampler attribute should not be set"):
        loader.batch_sampler = [[1]]


def test_the_kind_of_the_data_set_has_torch_s_name():
    from taeda.utils.data.dataloader import _DatasetKind

    assert DataLoader([1])._dataset_kind == _DatasetKind.Map
    assert DataLoader(Stream(3))._dataset_kind == _DatasetKind.Iterable
