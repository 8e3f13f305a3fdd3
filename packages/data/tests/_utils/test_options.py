"""Options of a loader that do not go together."""

from __future__ import annotations

import pytest

from taeda.utils.data import DataLoader, IterableDataset


class Stream(IterableDataset):
    def __init__(self, n, told=None):
        self.n, self.told = n, told

    def __iter__(self):
        return iter(range(self.n))

    def __len__(self):
        if self.told is None:
            raise TypeError("unknown")
        return self.told


REFUSED = {
    "workers below 0": ({"num_workers": -1}, ValueError, "num_workers"),
    "a method without a name": (
        {"num_workers": 2, "multiprocessing_context": "thread"},
        ValueError,
        "'thread'",
    ),
    "no context": ({"num_workers": 2, "multiprocessing_context": 3}, TypeError, "context=3"),
    "prefetching below 0": ({"num_workers": 2, "prefetch_factor": -1}, ValueError, "got -1"),
    "watchdog": ({"watchdog": -1}, ValueError, "watchdog"),
    "timeout": ({"timeout": -1}, ValueError, "timeout"),
    "prefetching": ({"prefetch_factor": 2}, ValueError, "prefetch_factor"),
    "persistence": ({"persistent_workers": True}, ValueError, "persistent_workers"),
    "context": ({"multiprocessing_context": "fork"}, ValueError, "num_workers=0"),
    "shuffled sampler": ({"sampler": [1], "shuffle": True}, ValueError, "exclusive with shuffle"),
    "two batchings": ({"batch_sampler": [[1]], "batch_size": 2}, ValueError, "batch_sampler"),
    "dropped batches": ({"batch_sampler": [[1]], "drop_last": True}, ValueError, "drop_last"),
    "dropped samples": ({"batch_size": None, "drop_last": True}, ValueError, "drop_last"),
    "no batch": ({"batch_size": 0}, ValueError, "batch_size=0"),
    "half a batch": ({"batch_size": 1.5}, ValueError, "batch_size=1.5"),
    "drop what": ({"drop_last": 3}, ValueError, "drop_last=3"),
}


@pytest.mark.parametrize(("options", "error", "fact"), REFUSED.values(), ids=REFUSED)
def test_refused_options(options, error, fact):
    with pytest.raises(error, match=fact):
        DataLoader(range(5), **options)


@pytest.mark.parametrize("options", [{"shuffle": True}, {"sampler": [1]}, {"batch_sampler": [[1]]}])
def test_streams_have_their_own_order(options):
    with pytest.raises(ValueError, match=f"{next(iter(options))} option"):
        DataLoader(Stream(3), **options)


def test_far_more_workers_than_processors_are_told_where_the_loader_is_made(monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1})
    with pytest.warns(
        UserWarning, match=r"num_workers=99, .* 2 processors.* try num_workers=2"
    ) as told:
        DataLoader([1, 2], num_workers=99)
    assert told[0].filename == __file__
    DataLoader([1, 2], num_workers=8)
