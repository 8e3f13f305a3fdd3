"""Orders of indices."""

from __future__ import annotations

from collections import Counter

import pytest

import taeda
from taeda.utils.data import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)


def seeded(seed=0):
    return taeda.Generator().manual_seed(seed)


def test_in_order():
    sampler = SequentialSampler("abc")
    assert (list(sampler), len(sampler)) == ([0, 1, 2], 3)


def test_shuffled():
    sampler = RandomSampler(range(20), generator=seeded())
    first, second = list(sampler), list(sampler)
    assert sorted(first) == sorted(second) == list(range(20))
    assert first != second
    assert list(RandomSampler(range(20), generator=seeded())) == first


def test_without_a_generator_the_global_seed_decides():
    taeda.manual_seed(5)
    first = list(RandomSampler(range(20)))
    taeda.manual_seed(5)
    assert list(RandomSampler(range(20))) == first


def test_an_own_generator_leaves_the_global_one_alone():
    taeda.manual_seed(5)
    before = taeda.get_rng_state().tolist()
    list(RandomSampler(range(20), generator=seeded()))
    assert taeda.get_rng_state().tolist() == before


@pytest.mark.parametrize("wanted", [3, 5, 12])
def test_as_many_as_wanted_each_as_often_as_possible(wanted):
    sampler = RandomSampler(range(5), num_samples=wanted)
    counts = Counter(sampler)
    assert (counts.total(), len(sampler)) == (wanted, wanted)
    assert max(counts.values()) == -(-wanted // 5)


def test_with_replacement():
    found = list(RandomSampler(range(3), replacement=True, num_samples=100, generator=seeded()))
    assert len(found) == 100
    assert set(found) == {0, 1, 2}


def test_of_given_indices():
    sampler = SubsetRandomSampler([5, 7, 9])
    assert (sorted(sampler), len(sampler)) == ([5, 7, 9], 3)


def test_weighted():
    found = Counter(WeightedRandomSampler([1, 0, 3], 4000, generator=seeded()))
    assert found[1] == 0
    assert 2800 < found[2] < 3200
    assert sorted(WeightedRandomSampler([1.0, 1.0, 1.0], 3, False)) == [0, 1, 2]


@pytest.mark.parametrize(
    ("drop", "batches"), [(False, [[0, 1], [2, 3], [4]]), (True, [[0, 1], [2, 3]])]
)
def test_batches(drop, batches):
    sampler = BatchSampler(range(5), 2, drop)
    assert (list(sampler), len(sampler)) == (batches, len(batches))


def test_batches_of_any_iterable():
    assert list(BatchSampler(iter("abc"), 2, False)) == [["a", "b"], ["c"]]


REFUSED = {
    "no boolean": (lambda: RandomSampler([1], replacement=3), TypeError, "replacement=3"),
    "none": (lambda: RandomSampler([1], num_samples=0), ValueError, "num_samples=0"),
    "a fraction": (lambda: RandomSampler([1], num_samples=1.5), ValueError, "num_samples=1.5"),
    "no data": (lambda: RandomSampler([]), ValueError, "num_samples=0"),
    "true samples": (lambda: WeightedRandomSampler([1], True), ValueError, "num_samples=True"),
    "weights": (lambda: WeightedRandomSampler([[1]], 1), ValueError, r"shape \(1, 1\)"),
    "weighted how": (lambda: WeightedRandomSampler([1], 1, 3), ValueError, "replacement=3"),
    "batch of none": (lambda: BatchSampler([1], 0, False), ValueError, "batch_size=0"),
    "drop what": (lambda: BatchSampler([1], 1, 3), ValueError, "drop_last=3"),
    "no order": (lambda: iter(Sampler()), NotImplementedError, "Sampler"),
}


@pytest.mark.parametrize(("call", "error", "fact"), REFUSED.values(), ids=REFUSED)
def test_refusals(call, error, fact):
    with pytest.raises(error, match=fact):
        call()
