"""From indices to a batch."""

from __future__ import annotations

import pytest

import taeda
from taeda.utils.data import DataLoader, Dataset, RandomSampler, Subset, TensorDataset

ROWS = TensorDataset(taeda.arange(10).reshape(5, 2), taeda.arange(5))


class Plain(Dataset):
    """The rows again, behind a type that allows no shortcut."""

    def __init__(self, rows):
        self.rows = rows

    def __getitem__(self, index):
        return self.rows[index]

    def __len__(self):
        return len(self.rows)


def lists(batches):
    return [b.tolist() if isinstance(b, taeda.Tensor) else b for b in batches]


OPTIONS = [
    {"batch_size": 2},
    {"batch_size": 2, "drop_last": True},
    {"batch_size": 7},
    {"batch_size": 7, "drop_last": True},
    {"batch_size": 2, "shuffle": True},
    {"batch_size": 3, "shuffle": True, "drop_last": True},
    {"batch_sampler": [[0, -1], [3]]},
    {"batch_size": 2, "sampler": RandomSampler(range(3), num_samples=5)},
    {"batch_size": None, "shuffle": True},
]


@pytest.mark.parametrize("options", OPTIONS, ids=range(len(OPTIONS)))
@pytest.mark.parametrize("wrap", [lambda d: d, lambda d: Subset(d, [4, 0, 2, 3])])
def test_rows_of_tensors_are_batched_as_samples_would_be(options, wrap):
    def run(data):
        taeda.manual_seed(3)
        batches = [[t.tolist() for t in batch] for batch in DataLoader(data, **options)]
        return batches, taeda.rand(1).item()

    assert run(wrap(ROWS)) == run(wrap(Plain(ROWS)))


def test_a_batch_of_rows_is_new_memory():
    x = taeda.zeros(4)
    for (batch,) in DataLoader(TensorDataset(x), batch_size=2):
        batch.fill_(1)
    assert x.tolist() == [0, 0, 0, 0]


def test_gradients_flow_into_rows():
    x = taeda.ones(4, 2, requires_grad=True)
    for (batch,) in DataLoader(TensorDataset(x), batch_size=3):
        batch.sum().backward()
    assert x.grad.tolist() == [[1, 1]] * 4


def test_a_dataset_that_fetches_batches_is_asked_once_for_each():
    class Many(Plain):
        calls = 0

        def __getitems__(self, indices):
            self.calls += 1
            return [self.rows[i] for i in indices]

    data = Many(range(5))
    assert lists(DataLoader(data, batch_size=2)) == [[0, 1], [2, 3], [4]]
    assert data.calls == 3
