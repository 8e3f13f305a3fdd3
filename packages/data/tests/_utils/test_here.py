"""What a process knows of itself: nothing in the main one, its number and share in a worker."""

from __future__ import annotations

import threading

from taeda.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info
from taeda.utils.data._utils import here


class Facts(Dataset):
    """Each item is what its worker says of itself."""

    def __len__(self):
        return 6

    def __getitem__(self, index):
        info = get_worker_info()
        return index, None if info is None else (info.id, info.num_workers)


class Share(IterableDataset):
    """Every worker gives its own numbers."""

    def __iter__(self):
        info = get_worker_info()
        first, step = (0, 1) if info is None else (info.id, info.num_workers)
        return iter(range(first, 10, step))


def own(batch):
    return batch


def test_the_main_process_is_no_worker():
    assert get_worker_info() is None
    assert {facts for _, facts in map(Facts().__getitem__, range(6))} == {None}


def test_each_worker_has_a_number_of_two():
    loader = DataLoader(Facts(), batch_size=None, num_workers=2, collate_fn=own)
    found = dict(loader)
    assert {*found.values()} == {(0, 2), (1, 2)}
    assert get_worker_info() is None  # here it is as it was


def test_shares_by_number_are_all_of_the_data():
    loader = DataLoader(Share(), batch_size=None, num_workers=3)
    assert sorted(int(x) for x in loader) == list(range(10))


def test_the_fact_is_one_for_all_threads_of_a_process(monkeypatch):
    monkeypatch.setattr(here, "worker_info", here.WorkerInfo(1, 4, 7, "data"))
    found = []
    thread = threading.Thread(target=lambda: found.append(get_worker_info()))
    thread.start()
    thread.join()
    assert found == [(1, 4, 7, "data")]
