"""Data sets and functions for tests of loaders with workers: in a module of its own, for a new
process has to import them.
"""

from __future__ import annotations

import ctypes
import os
import random
import signal
import sys
import time

import taeda
from taeda.utils.data import Dataset, IterableDataset, get_worker_info


class Numbers(Dataset):
    """Sample i is i; what else happens there says `at`."""

    def __init__(self, n=20, at=None):
        self.n, self.at = n, at or {}

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return FATES[self.at[i]]() if i in self.at else i


class Noisy(Dataset):
    """Samples with a random number of each generator."""

    def __init__(self, n=20):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        import numpy as np

        return i, random.random(), np.random.rand(), taeda.rand(())


class Facts(Dataset):
    """What a worker is: number, count, seed, process, threads, whether numpy is loaded, and the
    data set's own state.
    """

    calls = 0

    def __len__(self):
        return 8

    def __getitem__(self, i):
        info = get_worker_info()
        self.calls += 1
        return {
            "id": info.id,
            "num_workers": info.num_workers,
            "seed": info.seed,
            "own": info.dataset is self,
            "pid": os.getpid(),
            "threads": taeda.get_num_threads(),
            "taeda_seed": taeda.initial_seed(),
            "calls": self.calls,
            "packages": sorted(m for m in sys.modules if m in ("taeda.nn", "taeda.optim", "numpy")),
        }


class Stream(IterableDataset):
    """range(n), shared out among the workers; `unequal` gives all to worker 0."""

    def __init__(self, n=10, unequal=False):
        self.n, self.unequal = n, unequal

    def __iter__(self):
        info = get_worker_info()
        if info is None:
            return iter(range(self.n))
        if self.unequal:
            return iter(range(self.n if info.id == 0 else 0))
        return iter(range(info.id, self.n, info.num_workers))


class Resumable(IterableDataset):
    """A stream that knows its place, and counts how many samples it has made."""

    def __init__(self, n=12):
        self.n, self.place = n, 0

    def __iter__(self):
        info = get_worker_info()
        first, step = (info.id, info.num_workers) if info else (0, 1)
        while first + self.place * step < self.n:
            self.place += 1
            yield first + (self.place - 1) * step, self.place
        self.place = 0

    def state_dict(self):
        return {"place": self.place}

    def load_state_dict(self, state):
        self.place = state["place"]


class Unusual(Exception):
    def __init__(self, one, two):
        super().__init__(one, two)


def _raise(error):
    raise error


def _sleep():
    time.sleep(1000)


def _nap():
    time.sleep(0.6)


FATES = {
    "nap": _nap,
    "killed": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "segfault": lambda: ctypes.string_at(0),
    "abort": os.abort,
    "exit": lambda: sys.exit(0),
    "hard exit": lambda: os._exit(3),
    "raise": lambda: _raise(ValueError("a bad sample")),
    "key": lambda: _raise(KeyError("no\nsuch key")),
    "unusual": lambda: _raise(Unusual(1, 2)),
    "memory": lambda: taeda.empty(1 << 50),
    "sleep": _sleep,
    "function": lambda: lambda: 0,
    "history": lambda: taeda.ones(2, requires_grad=True) * 2,
}


class Shelf(Dataset):
    """Many small tensors and a large one; a sample tells whether the large one is shared."""

    def __init__(self, n):
        self.small = [taeda.full((3,), i) for i in range(n)]
        self.large = taeda.ones(100_000)

    def __len__(self):
        return len(self.small)

    def __getitem__(self, i):
        return self.small[i], self.large.is_shared(), self.large[:2]


class Assorted(Numbers):
    """Tensors, arrays and texts of all sizes, below and above those that travel in shared memory."""

    def __getitem__(self, i):
        import numpy as np

        n = i * 7919 % 5000 + 1
        array = np.full(n // 2 + 1, i)
        return {
            "index": i,
            "tensor": taeda.full((n,), i),
            "array": array,
            "text": "x" * (i * 331 % 70_000),
        }

    @staticmethod
    def check(sample):
        i = sample["index"]
        n = i * 7919 % 5000 + 1
        assert sample["tensor"].shape == (n,) and (sample["tensor"] == i).all(), i
        assert sample["array"].shape == (n // 2 + 1,) and (sample["array"] == i).all(), i
        assert len(sample["text"]) == i * 331 % 70_000, i


class CannotOpen(Numbers):
    """Its unpickling fails."""

    def __setstate__(self, state):
        raise OSError("no such archive")


def together(samples):
    """A collate_fn that leaves samples as they are."""
    return samples


def pid_and_samples(samples):
    """A collate_fn that tells which process ran it."""
    return os.getpid(), samples


def announce(worker):
    """A worker_init_fn that changes the worker's data set."""
    get_worker_info().dataset.n += worker


def no_more_files(worker):
    """A worker_init_fn after which no shared memory can be made."""
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))


def fail(worker):
    raise ValueError(f"worker {worker} cannot begin")
