"""Loading by workers: what arrives, in which order, from whom."""

from __future__ import annotations

import collections
import os
import threading
import time
import warnings

import numpy as np
import pytest
from loader_data import Facts, Noisy, Numbers, Stream, together

import taeda
from taeda.utils.data import DataLoader, TensorDataset

METHODS = ["fork", "spawn", "forkserver"]
Pair = collections.namedtuple("Pair", "x y")


def lists(batches):
    return [b.tolist() if isinstance(b, taeda.Tensor) else b for b in batches]


@pytest.mark.parametrize("method", METHODS)
def test_batches_are_those_of_one_process(method):
    data = TensorDataset(taeda.arange(4000).reshape(20, 200), taeda.arange(20))
    options = {"batch_size": 3, "multiprocessing_context": method}
    for wanted, (x, y) in zip(
        DataLoader(data, batch_size=3), DataLoader(data, num_workers=2, **options), strict=True
    ):
        assert (x == wanted[0]).all() and (y == wanted[1]).all()
    batches = DataLoader(Numbers(7), num_workers=3, collate_fn=together, **options)
    assert list(batches) == [[0, 1, 2], [3, 4, 5], [6]]


@pytest.mark.parametrize("workers", [1, 2, 5])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"batch_size": 4},
        {"batch_size": 4, "drop_last": True},
        {"batch_size": None},
        {"sampler": [4, 1, 1]},
        {"batch_sampler": [[3], [1, 2]]},
        {"batch_size": 2, "shuffle": True},
        {"batch_size": 2, "prefetch_factor": 5},
        {"batch_size": 4, "in_order": True, "timeout": 60},
    ],
    ids=str,
)
def test_order_is_the_samplers(workers, options):
    def run(**more):
        taeda.manual_seed(5)
        return lists(DataLoader(Numbers(11), **options, **more)), taeda.rand(1).item()

    alone = {k: v for k, v in options.items() if k != "prefetch_factor"}
    taeda.manual_seed(5)
    wanted = lists(DataLoader(Numbers(11), **alone)), taeda.rand(1).item()
    assert run(num_workers=workers) == wanted


def test_any_order_gives_the_same_batches_and_goes_on_where_one_is_slow():
    class Slow(Numbers):
        def __getitem__(self, i):
            if i == 0:
                time.sleep(0.3)
            return i

    got = lists(DataLoader(Slow(20), num_workers=2, in_order=False))
    assert sorted(got) == [[i] for i in range(20)]
    assert got[0] != [0]


def test_keys_need_not_be_numbers():
    data = {"a": 1, ("b", 2): 3}
    assert lists(DataLoader(data, sampler=list(data), num_workers=2)) == [[1], [3]]


def test_a_whole_batch_is_fetched_by_one_call():
    class Many(Numbers):
        def __getitems__(self, indices):
            return [indices, indices]

    loader = DataLoader(Many(4), batch_size=2, num_workers=2, collate_fn=together)
    assert list(loader) == [[[0, 1], [0, 1]], [[2, 3], [2, 3]]]


def test_a_spawned_worker_loads_the_core_and_data_alone():
    loader = DataLoader(
        Facts(), num_workers=1, collate_fn=together, multiprocessing_context="spawn"
    )
    assert next(iter(loader))[0]["packages"] == []


# ---- random numbers ----


def numbers(loader):
    return [tuple(float(x) for x in sample) for sample in loader]


# under spawn numpy is loaded by the first sample
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_seeds_follow_from_the_generator_and_change_with_each_epoch(method):
    def two_epochs():
        generator = taeda.Generator().manual_seed(3)
        loader = DataLoader(
            Noisy(4),
            num_workers=2,
            batch_size=None,
            generator=generator,
            multiprocessing_context=method,
        )
        return numbers(loader), numbers(loader)

    before = taeda.get_rng_state().tolist()
    first, second = two_epochs()
    assert (first, second) == two_epochs()
    assert not {x for sample in first for x in sample[1:]} & {x for s in second for x in s[1:]}
    assert taeda.get_rng_state().tolist() == before


def test_seeds_of_batches_make_random_numbers_independent_of_workers():
    def run(workers):
        taeda.manual_seed(1)
        loader = DataLoader(Noisy(9), num_workers=workers, batch_size=None, seed_batches=True)
        return numbers(loader), taeda.rand(1).item()

    assert run(0) == run(1) == run(3)


# ---- streams ----


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_workers_share_a_stream_in_turn(workers):
    wanted = sorted(range(10), key=lambda i: i // workers)
    assert list(DataLoader(Stream(10), num_workers=workers, batch_size=None)) == wanted


def test_a_worker_that_runs_dry_leaves_the_turn_of_the_others():
    loader = DataLoader(Stream(5, unequal=True), num_workers=3, batch_size=None)
    assert list(loader) == list(range(5))
    every = DataLoader(Stream(7), num_workers=3, batch_size=2)
    assert lists(every) == [[0, 3], [1, 4], [2, 5], [6]]
    short = DataLoader(Stream(7), num_workers=3, batch_size=2, drop_last=True)
    assert lists(short) == [[0, 3], [1, 4], [2, 5]]  # each worker drops its own rest
    assert sorted(DataLoader(Stream(7), num_workers=3, batch_size=None, in_order=False)) == [
        *range(7)
    ]


def test_an_unshared_stream_comes_from_every_worker_and_warns_of_its_length():
    class Same(Stream):
        def __iter__(self):
            return iter(range(self.n))

        def __len__(self):
            return self.n

    loader = DataLoader(Same(3), num_workers=2, batch_size=None)
    assert len(loader) == 3
    with pytest.warns(UserWarning, match="reported to be 3") as seen:
        assert list(loader) == [0, 0, 1, 1, 2, 2]
    assert len(seen) == 3


# ---- persistent workers ----


@pytest.mark.parametrize("stream", [False, True])
def test_persistent_workers_begin_anew_after_an_epoch_that_was_broken_off(stream):
    data = Stream(8) if stream else Numbers(8)
    loader = DataLoader(data, num_workers=2, batch_size=None, persistent_workers=True)
    for n in (1, 3, 0):
        batches = iter(loader)
        assert [next(batches) for _ in range(n)] == list(range(n))
    assert list(loader) == list(range(8))
    assert list(loader) == list(range(8))


# ---- memory ----


def test_all_kinds_of_batches_arrive_as_they_were():
    rows = {
        "float": taeda.rand(50, 30),
        "turned": taeda.rand(40, 60).t(),
        "gaps": taeda.rand(40, 60)[:, ::2],
        "spread": taeda.rand(1, 900).expand(9, 900),
        "half": taeda.rand(2000).bfloat16(),
        "complex": taeda.rand(900) * 1j,
        "bool": taeda.rand(3000) > 0.5,
        "empty": taeda.empty(0, 3),
        "scalar": taeda.tensor(3),
        "small": taeda.arange(4),
        "leaf": taeda.rand(900, requires_grad=True),
        "parameterless": [None, "text", b"bytes", 1.5, Pair(taeda.ones(2), 2)],
        "array": np.arange(5000).reshape(50, 100),
        "object": np.array([1, None]),
        "long text": "x" * 100_000,
    }
    (got,) = DataLoader([rows], num_workers=1, batch_size=None, collate_fn=together)
    assert list(got) == list(rows)
    for key, value in rows.items():
        if isinstance(value, taeda.Tensor):
            assert got[key].dtype is value.dtype and got[key].shape == value.shape
            assert taeda.equal(got[key], value) and got[key].requires_grad == value.requires_grad
        elif isinstance(value, np.ndarray):
            assert (got[key] == value).all() and got[key].dtype == value.dtype
        elif key != "parameterless":
            assert got[key] == value
    assert got["turned"].stride() == rows["turned"].stride()
    assert got["parameterless"][:4] == rows["parameterless"][:4]
    assert taeda.equal(got["parameterless"][4].x, taeda.ones(2))


def test_views_of_a_joined_batch_stay_views():
    def twice(samples):
        x = taeda.utils.data.default_collate(samples)
        return x, x[1:]

    data = TensorDataset(taeda.rand(4, 1000))
    ((x,), (y,)), *_ = [
        ([x], [y]) for x, y in DataLoader([*data.tensors[0]], 4, num_workers=1, collate_fn=twice)
    ]
    x[1] = 7
    assert (y[0] == 7).all()


def test_batches_that_are_kept_are_not_written_again():
    data = taeda.arange(40).reshape(40, 1).expand(40, 1000).contiguous()
    loader = DataLoader(TensorDataset(data), batch_size=2, num_workers=2, persistent_workers=True)
    for _ in range(3):
        kept = [x for (x,) in loader]
        views = [x[0] for x in kept[::2]]
        del kept[::2]
        more = [x for (x,) in loader]
        assert all((x == data[2 * k : 2 * k + 2]).all() for k, x in enumerate(more))
        assert all((x == data[4 * k + 2 : 4 * k + 4]).all() for k, x in enumerate(kept))
        assert all((x == data[4 * k]).all() for k, x in enumerate(views))


def test_memory_is_used_again():
    data = TensorDataset(taeda.rand(64, 1000))
    loader = DataLoader(data, batch_size=4, num_workers=1, persistent_workers=True)
    for _ in range(3):
        for _ in loader:
            pass
    (member,) = loader._iterator._crew.members
    assert len(member._memories) <= 6  # 48 batches went through them


def test_a_forked_child_keeps_the_batches_that_it_saw():
    data = TensorDataset(taeda.arange(20).reshape(20, 1).expand(20, 1000).contiguous())
    batches = iter(DataLoader(data, batch_size=2, num_workers=1))
    (first,) = next(batches)
    wake, waker = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.read(wake, 1)
        os._exit(0 if (first[1] == 1).all() and (first[0] == 0).all() else 1)
    del first
    assert len(list(batches)) == 9
    os.write(waker, b"x")
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    os.close(wake)
    os.close(waker)


def test_threads_of_the_parent_do_not_hang_forked_workers():
    stop = threading.Event()

    def busy():
        while not stop.is_set():
            taeda.rand(64, 64) @ taeda.rand(64, 64)

    threads = [threading.Thread(target=busy) for _ in range(2)]
    for thread in threads:
        thread.start()
    data = TensorDataset(taeda.rand(16, 1000))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(10):
            assert len(list(DataLoader(data, batch_size=4, num_workers=2))) == 4
    stop.set()
    for thread in threads:
        thread.join()


def test_a_batch_can_be_sent_on():
    import taeda.multiprocessing as mp

    (batch,) = next(iter(DataLoader(TensorDataset(taeda.rand(4, 1000)), 4, num_workers=1)))
    assert batch.is_shared()
    queue = mp.SimpleQueue()
    queue.put(batch)
    got = queue.get()
    assert taeda.equal(got, batch)
    got.zero_()
    assert batch.any()  # a copy: the worker uses its memory again


def test_workers_may_be_asked_for_after_construction():
    loader = DataLoader(Numbers(4), batch_size=2)
    loader.num_workers = 2
    assert lists(loader) == [[0, 1], [2, 3]]


class Ragged(Numbers):
    """Arrays, tensors and texts of sizes that come near to each other again and again."""

    def __getitem__(self, i):
        n = 2000 + i * 37 % 200
        return {"array": np.full(n, i), "tensor": taeda.full((n,), i), "text": "x" * (40_000 + n)}


def test_memory_of_other_sizes_is_used_again_and_sizes_stay():
    loader = DataLoader(Ragged(60), 2, num_workers=2, collate_fn=together, persistent_workers=True)
    for _ in range(2):
        for k, batch in enumerate(loader):
            for i, sample in zip((2 * k, 2 * k + 1), batch, strict=True):
                n = 2000 + i * 37 % 200
                assert sample["array"].tolist() == sample["tensor"].tolist() == [i] * n
                assert len(sample["text"]) == 40_000 + n
    assert all(len(member._memories) < 60 for member in loader._iterator._crew.members)


def test_workers_are_shut_down_by_the_old_name():
    batches = iter(DataLoader(range(100), 2, num_workers=2))
    next(batches)
    batches._shutdown_workers()
    with pytest.raises(RuntimeError, match="have ended"):
        next(batches)
