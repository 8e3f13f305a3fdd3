"""What a worker knows, draws and does before its first sample."""

from __future__ import annotations

import os

import pytest
from loader_data import Facts, Noisy, Numbers, Stream, announce, pid_and_samples, together

from taeda.utils.data import DataLoader

METHODS = ["fork", "spawn", "forkserver"]


def test_samples_are_fetched_and_joined_in_workers():
    pids = {pid for pid, _ in DataLoader(Numbers(4), num_workers=2, collate_fn=pid_and_samples)}
    assert len(pids) == 2 and os.getpid() not in pids


@pytest.mark.parametrize("persistent", [False, True])
def test_workers_know_what_they_are(persistent):
    loader = DataLoader(Facts(), num_workers=2, collate_fn=together, persistent_workers=persistent)
    first = [sample for (sample,) in loader]
    second = [sample for (sample,) in loader]
    assert [f["id"] for f in first] == [0, 1] * 4
    assert all(f["own"] and f["num_workers"] == 2 and f["threads"] == 1 for f in first)
    assert all(f["seed"] == f["taeda_seed"] for f in first)
    assert {f["seed"] - f["id"] for f in first} == {first[0]["seed"]}
    assert ({f["pid"] for f in first} == {f["pid"] for f in second}) is persistent
    assert ({f["seed"] for f in first} == {f["seed"] for f in second}) is persistent
    assert second[-1]["calls"] == (8 if persistent else 4)  # persistent data sets remember


@pytest.mark.parametrize("method", METHODS)
def test_worker_init_fn_runs_in_the_worker_before_the_data(method):
    data = Stream(2)
    options = {"multiprocessing_context": method, "worker_init_fn": announce, "batch_size": None}
    assert list(DataLoader(data, num_workers=2, **options)) == [0, 1]
    assert data.n == 2


def numbers(loader):
    return [tuple(float(x) for x in sample) for sample in loader]


def test_each_worker_has_random_numbers_of_its_own():
    samples = numbers(DataLoader(Noisy(8), num_workers=2, batch_size=None))
    for column in list(zip(*samples, strict=True))[1:]:
        assert len(set(column)) == 8


def test_words_for_numpy_differ_by_seed_and_worker():
    from taeda.utils.data._utils.worker import _generate_state

    words = [_generate_state(seed, worker) for seed in (5, 2**62 + 12345) for worker in (1, 3)]
    # as other libraries have them
    assert words[0] == [3025039489, 3528014902, 3507927383, 2601490367]
    assert len({tuple(w) for w in words}) == 4
