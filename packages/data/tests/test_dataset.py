"""Data sets and their combinations."""

from __future__ import annotations

import pytest

import taeda
from taeda.utils.data import (
    ChainDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    StackDataset,
    Subset,
    TensorDataset,
    random_split,
)


class Count(IterableDataset):
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return iter(range(self.n))

    def __len__(self):
        return self.n


class Many(Dataset):
    """Counts how often it is asked."""

    def __init__(self, short=0):
        self.calls, self.short = 0, short

    def __getitem__(self, index):
        return index * 10

    def __getitems__(self, indices):
        self.calls += 1
        return [index * 10 for index in indices[self.short :]]

    def __len__(self):
        return 5


def test_rows_of_tensors():
    data = TensorDataset(taeda.tensor([[1, 2], [3, 4], [5, 6]]), taeda.tensor([7, 8, 9]))
    assert len(data) == 3
    assert [t.tolist() for t in data[1]] == [[3, 4], 8]
    assert [t.tolist() for t in data[[0, -1]]] == [[[1, 2], [5, 6]], [7, 9]]
    with pytest.raises(IndexError):
        data[3]


def test_rows_must_be_equally_many():
    with pytest.raises(AssertionError, match=r"\[2, 3\]"):
        TensorDataset(taeda.ones(2), taeda.ones(3))


def test_side_by_side():
    assert StackDataset([1, 2], "ab")[1] == (2, "b")
    assert StackDataset(x=[1, 2], y="ab")[0] == {"x": 1, "y": "a"}
    many = Many()
    assert StackDataset(many, range(5)).__getitems__([1, 4]) == [(10, 1), (40, 4)]
    assert StackDataset(a=many).__getitems__([2]) == [{"a": 20}]
    assert many.calls == 2


def test_a_batch_of_the_wrong_length_is_refused():
    with pytest.raises(ValueError, match="returned 1 samples for 2"):
        StackDataset(Many(short=1)).__getitems__([0, 1])


def test_one_after_another_by_index():
    data = ConcatDataset([[1, 2], [], [3]])
    assert (len(data), data.cumulative_sizes) == (3, [2, 2, 3])
    assert [data[i] for i in (0, 1, 2, -1, -3)] == [1, 2, 3, 3, 1]
    with pytest.raises(IndexError, match="3"):
        data[3]
    with pytest.raises(ValueError, match="-4"):
        data[-4]


def test_one_after_another_by_iteration():
    data = ChainDataset([Count(2), Count(3)])
    assert list(data) == [0, 1, 0, 1, 2]
    assert len(data) == 5


def test_addition():
    data = TensorDataset(taeda.ones(2))
    assert type(data + data) is ConcatDataset
    assert type(Count(1) + Count(2)) is ChainDataset


def test_some_samples():
    data = Subset([10, 11, 12, 13], [3, 0])
    assert (len(data), data[0], data[1]) == (2, 13, 10)
    many = Many()
    assert Subset(many, [4, 1]).__getitems__([1, 0]) == [10, 40]
    assert many.calls == 1
    rows = Subset(TensorDataset(taeda.arange(4)), [3, 1])
    assert rows[[0, 1]][0].tolist() == [3, 1]


@pytest.mark.parametrize(
    ("lengths", "sizes"),
    [([3, 7], [3, 7]), ([0.3, 0.7], [3, 7]), ([1 / 3] * 3, [4, 3, 3]), ([0.25, 0.75], [3, 7])],
    ids=str,
)
def test_random_parts(lengths, sizes):
    generator = taeda.Generator().manual_seed(0)
    parts = random_split(range(10), lengths, generator)
    assert [len(part) for part in parts] == sizes
    assert sorted(i for part in parts for i in part) == list(range(10))


def test_an_empty_random_part_warns():
    with pytest.warns(UserWarning, match="split at index 1 is 0"):
        parts = random_split(range(1), [0.5, 0.5])
    assert [len(part) for part in parts] == [1, 0]


def test_random_parts_depend_on_the_seed_only():
    def parts(seed):
        generator = taeda.Generator().manual_seed(seed)
        return [part.indices for part in random_split(range(10), [5, 5], generator)]

    assert parts(1) == parts(1)
    assert parts(1) != parts(2)


REFUSED = {
    "too few": (lambda: random_split(range(10), [3, 3]), ValueError, "6 and 10"),
    "too much": (lambda: random_split(range(10), [0.5, 0.6]), ValueError, "and 10"),
    "negative": (lambda: random_split(range(10), [-0.5, 1.5]), ValueError, "index 0"),
    "stack of nothing": (StackDataset, ValueError, "At least one"),
    "stack of both": (lambda: StackDataset([1], a=[1]), ValueError, "both"),
    "stack of lengths": (lambda: StackDataset([1], [1, 2]), ValueError, r"\[1, 2\]"),
    "nothing to join": (lambda: ConcatDataset([]), AssertionError, "empty"),
    "joined streams": (lambda: ConcatDataset([[1], Count(1)]), AssertionError, "at 1"),
    "chained lists": (lambda: list(ChainDataset([[1]])), AssertionError, "list"),
    "no samples": (lambda: Dataset()[0], NotImplementedError, "__getitem__"),
    "no iteration": (lambda: iter(IterableDataset()), TypeError, "__iter__"),
    "no length": (lambda: len(Dataset()), TypeError, "no len"),
}


@pytest.mark.parametrize(("call", "error", "fact"), REFUSED.values(), ids=REFUSED)
def test_refusals(call, error, fact):
    with pytest.raises(error, match=fact):
        call()
