"""The same program with torch and with taeda: batches, lengths, warnings and types of exceptions."""

from __future__ import annotations

import collections
import warnings

import numpy as np
import pytest
import torch

import taeda

Pair = collections.namedtuple("Pair", "x y")


class Own(dict):
    pass


def plain(value):
    """A result without the library it came from."""
    if isinstance(value, (torch.Tensor, taeda.Tensor)):
        return ("tensor", str(value.dtype).rpartition(".")[2], value.tolist())
    if isinstance(value, dict):
        return type(value).__name__, {k: plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [plain(v) for v in value]
    return value


def outcome(program, T):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            got = plain(program(T, T.utils.data))
        except Exception as error:  # noqa: BLE001 - whatever it is, the other must raise it as well
            got = type(error).__name__
    # torch also counts processors
    return got, [w.category.__name__ for w in told if "suggested max" not in str(w.message)]


def numbers(D, n=10):
    class Numbers(D.Dataset):
        def __len__(self):
            return n

        def __getitem__(self, i):
            return i

    return Numbers()


def stream(D, n=7, told=None, share=True):
    class Stream(D.IterableDataset):
        def __iter__(self):
            info = D.get_worker_info()
            first, step = (info.id, info.num_workers) if info and share else (0, 1)
            return iter(range(first, n, step))

        def __len__(self):
            if told is None:
                raise TypeError("unknown")
            return told

    return Stream()


def failing(D, error, at=3):
    class Failing(D.Dataset):
        def __len__(self):
            return 6

        def __getitem__(self, i):
            if i == at:
                raise error
            return i

    return Failing()


def with_length(loader):
    n = len(loader)
    return n, list(loader)


def after_failure(loader):
    batches, got = iter(loader), []
    while True:
        try:
            got.append(next(batches))
        except StopIteration:
            return got
        except ValueError:
            got.append("failed")


def broken_off(D, loader, n):
    batches = iter(loader)
    first = [next(batches) for _ in range(n)]
    del batches
    return first, list(loader)


ROWS = np.arange(12).reshape(6, 2)
COLLATE = {
    "numbers": [1, 2],
    "bools": [True, False],
    "floats": [1.5, 2.0],
    "mixed": [1, 2.5],
    "texts": ["a", "b"],
    "bytes": [b"a", b"b"],
    "pairs": [(1, 2.0), (3, 4.0)],
    "lists": [[1, 2], [3, 4]],
    "dicts": [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}],
    "own dicts": [Own(a=1), Own(a=2)],
    "named": [Pair(1, 2), Pair(3, 4)],
    "nested": [{"a": [(1, Pair(1.0, "t"))]}, {"a": [(2, Pair(2.0, "u"))]}],
    "arrays": [ROWS[0], ROWS[1]],
    "array scalars": [np.float32(1), np.float32(2)],
    "0-d arrays": [np.array(1.5), np.array(2.5)],
    "half": [np.ones(2, "f2"), np.ones(2, "f2")],
    "complex": [1j, 2j],
    "None": [None, None],
    "sets": [{1}, {2}],
    "nothing": [],
    "ragged": [[1, 2], [3]],
    "ragged arrays": [ROWS[0], ROWS[:2]],
    "missing key": [{"a": 1, "b": 2}, {"a": 3}],
    "text arrays": [np.array(["a"]), np.array(["b"])],
    "object arrays": [np.array([None]), np.array([None])],
    "ranges": [range(2), range(2)],
}


def loader(data=numbers, **options):
    return lambda T, D: list(D.DataLoader(data(D), **options))


PROGRAMS = {
    **{f"collate {k}": lambda T, D, v=v: D.default_collate(v) for k, v in COLLATE.items()},
    **{f"convert {k}": lambda T, D, v=v: D.default_convert(v) for k, v in COLLATE.items()},
    "collate tensors": lambda T, D: D.default_collate([T.ones(2), T.zeros(2)]),
    "collate with grad": lambda T, D: D.default_collate([T.ones(2, requires_grad=True)] * 2),
    "collate ragged tensors": lambda T, D: D.default_collate([T.ones(2), T.zeros(3)]),
    "sequential": lambda T, D: list(D.SequentialSampler(range(4))),
    "batches": lambda T, D: list(D.BatchSampler(range(5), 2, False)),
    "batches dropped": lambda T, D: list(D.BatchSampler(range(5), 2, True)),
    "batches of 0": lambda T, D: D.BatchSampler(range(5), 0, False),
    "batches of True": lambda T, D: D.BatchSampler(range(5), True, False),
    "batches drop 1": lambda T, D: D.BatchSampler(range(5), 2, 1),
    "random over nothing": lambda T, D: D.RandomSampler([]),
    "random of none": lambda T, D: D.RandomSampler(range(3), num_samples=0),
    "random kind": lambda T, D: D.RandomSampler(range(3), replacement=1),
    "random sorted": lambda T, D: sorted(D.RandomSampler(range(5))),
    "random twice": lambda T, D: sorted(D.RandomSampler(range(3), num_samples=6)),
    "random longer": lambda T, D: len(list(D.RandomSampler(range(3), num_samples=7))),
    "random replaced": lambda T, D: len(list(D.RandomSampler(range(3), True, 50))),
    "subset sorted": lambda T, D: sorted(D.SubsetRandomSampler([4, 2, 9])),
    "weighted one": lambda T, D: list(D.WeightedRandomSampler([0, 1.0, 0], 5)),
    "weighted all": lambda T, D: sorted(D.WeightedRandomSampler([1, 1, 1], 3, False)),
    "weighted too many": lambda T, D: list(D.WeightedRandomSampler([1, 1], 3, False)),
    "weighted matrix": lambda T, D: D.WeightedRandomSampler([[1, 1]], 3),
    "weighted none": lambda T, D: D.WeightedRandomSampler([1], 0),
    "weighted kind": lambda T, D: D.WeightedRandomSampler([1], 1, 3),
    "split": lambda T, D: [len(p) for p in D.random_split(range(10), [3, 7])],
    "split by fractions": lambda T, D: [len(p) for p in D.random_split(range(11), [0.3, 0.3, 0.4])],
    "split all": lambda T, D: sorted(i for p in D.random_split(range(5), [0.5, 0.5]) for i in p),
    "split wrong": lambda T, D: D.random_split(range(10), [3, 3]),
    "split fraction": lambda T, D: D.random_split(range(10), [1.5, -0.5]),
    "shares": lambda T, D: [
        list(D.distributed.DistributedSampler(range(10), 4, r, shuffle=False)) for r in range(4)
    ],
    "shares dropped": lambda T, D: [
        list(D.distributed.DistributedSampler(range(10), 4, r, shuffle=False, drop_last=True))
        for r in range(4)
    ],
    "shares of few": lambda T, D: list(
        D.distributed.DistributedSampler(range(2), 5, 4, shuffle=False)
    ),
    "share out of range": lambda T, D: D.distributed.DistributedSampler(range(9), 2, 2),
    "share without a group": lambda T, D: D.distributed.DistributedSampler(range(9)),
    "rows": lambda T, D: list(D.TensorDataset(T.arange(3), T.arange(6).reshape(3, 2))),
    "rows mismatched": lambda T, D: D.TensorDataset(T.arange(3), T.arange(4)),
    "concatenated": lambda T, D: list(D.ConcatDataset([range(3), range(2)])),
    "concatenated from the end": lambda T, D: D.ConcatDataset([range(3), range(2)])[-2],
    "concatenated too far": lambda T, D: D.ConcatDataset([range(3)])[-4],
    "concatenated nothing": lambda T, D: D.ConcatDataset([]),
    "concatenated streams": lambda T, D: D.ConcatDataset([stream(D)]),
    "chained": lambda T, D: list(D.ChainDataset([stream(D, 2), stream(D, 3)])),
    "chained others": lambda T, D: list(D.ChainDataset([range(3)])),
    "stacked": lambda T, D: D.StackDataset(range(3), range(3, 6))[1],
    "stacked by name": lambda T, D: D.StackDataset(a=range(3), b=range(3))[2],
    "stacked many": lambda T, D: D.StackDataset(range(3), range(3, 6)).__getitems__([0, 2]),
    "stacked unequal": lambda T, D: D.StackDataset(range(3), range(2)),
    "stacked nothing": lambda T, D: D.StackDataset(),
    "subset": lambda T, D: list(D.Subset(range(9), [3, 1])),
    "sum of data sets": lambda T, D: list(numbers(D, 2) + numbers(D, 3)),
    # ---- loaders ----
    "alone": loader(batch_size=3),
    "a tail dropped": loader(batch_size=3, drop_last=True),
    "singly": loader(batch_size=None),
    "singly shuffled": lambda T, D: sorted(D.DataLoader(numbers(D), batch_size=None, shuffle=True)),
    "two workers": loader(batch_size=3, num_workers=2),
    "three workers": loader(batch_size=1, num_workers=3, prefetch_factor=1),
    "more workers than batches": loader(batch_size=5, num_workers=6),
    "persistent": lambda T, D: [
        list(x) for x in [D.DataLoader(numbers(D), 4, num_workers=2, persistent_workers=True)] * 3
    ],
    "persistent broken off": lambda T, D: broken_off(
        D, D.DataLoader(numbers(D), 2, num_workers=2, persistent_workers=True), 2
    ),
    "a sampler": loader(sampler=[5, 5, 0], num_workers=2),
    "a batch sampler": loader(batch_sampler=[[5], [5, 0]], num_workers=2),
    "any order": lambda T, D: sorted(
        b.item() for b in D.DataLoader(numbers(D), num_workers=2, in_order=False)
    ),
    "rows by workers": lambda T, D: list(
        D.DataLoader(D.TensorDataset(T.arange(6), T.arange(12).reshape(6, 2)), 4, num_workers=2)
    ),
    "streams": loader(stream, batch_size=2),
    "a stream by workers": loader(stream, batch_size=2, num_workers=2),
    "a stream by many": loader(stream, batch_size=2, num_workers=5),
    "a stream by workers, dropping": loader(stream, batch_size=2, num_workers=3, drop_last=True),
    "an unshared stream": lambda T, D: list(D.DataLoader(stream(D, share=False), num_workers=2)),
    "a longer stream": lambda T, D: with_length(D.DataLoader(stream(D, 5, 3), num_workers=1)),
    "length of a stream": lambda T, D: len(D.DataLoader(stream(D, 5, 5), 2, drop_last=True)),
    "length of no stream": lambda T, D: len(D.DataLoader(stream(D))),
    "an exception alone": lambda T, D: list(D.DataLoader(failing(D, ValueError("x")))),
    "an exception": lambda T, D: list(D.DataLoader(failing(D, ValueError("x")), num_workers=2)),
    "a key error": lambda T, D: list(D.DataLoader(failing(D, KeyError("x")), num_workers=2)),
    "stop iteration": lambda T, D: list(D.DataLoader(failing(D, StopIteration()), num_workers=2)),
    "unusual": lambda T, D: list(
        D.DataLoader(failing(D, UnicodeDecodeError("x", b"", 0, 1, "y")), num_workers=2)
    ),
    "after an exception": lambda T, D: after_failure(
        D.DataLoader(failing(D, ValueError("x")), num_workers=2)
    ),
    "empty": lambda T, D: list(D.DataLoader([], num_workers=2)),
    "shuffled nothing": lambda T, D: D.DataLoader([], shuffle=True),
    "pinned without a device": loader(pin_memory=True, num_workers=1),
    "workers below 0": loader(num_workers=-1),
    "timeout below 0": loader(timeout=-1),
    "prefetching alone": loader(prefetch_factor=2),
    "prefetching below 0": loader(prefetch_factor=-2, num_workers=1),
    "persistent alone": loader(persistent_workers=True),
    "context alone": loader(multiprocessing_context="fork"),
    "context by a wrong name": loader(multiprocessing_context="thread", num_workers=1),
    "context of a wrong type": loader(multiprocessing_context=3, num_workers=1),
    "sampler shuffled": loader(sampler=[1], shuffle=True),
    "batch sampler with size": loader(batch_sampler=[[1]], batch_size=2),
    "batch sampler with sampler": loader(batch_sampler=[[1]], sampler=[1]),
    "batch sampler dropping": loader(batch_sampler=[[1]], drop_last=True),
    "dropping singles": loader(batch_size=None, drop_last=True),
    "size 0": loader(batch_size=0),
    "size 1.5": loader(batch_size=1.5),
    "a stream shuffled": loader(stream, shuffle=True),
    "a stream sampled": loader(stream, sampler=[1]),
    "a stream in batches": loader(stream, batch_sampler=[[1]]),
    **{
        f"set {name}": lambda T, D, name=name: setattr(D.DataLoader(numbers(D)), name, 1)
        for name in "batch_size batch_sampler sampler drop_last dataset persistent_workers".split()
    },
    "set workers": lambda T, D: setattr(D.DataLoader(numbers(D)), "num_workers", 1),
    "no worker here": lambda T, D: D.get_worker_info(),
    "a bare data set": lambda T, D: D.Dataset()[0],
    "a bare stream": lambda T, D: iter(D.IterableDataset()),
    "a bare sampler": lambda T, D: iter(D.Sampler()),
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_both_do_the_same(program):
    torch.manual_seed(0)
    taeda.manual_seed(0)
    assert outcome(program, taeda) == outcome(program, torch)


@pytest.mark.parametrize("options", [{}, {"num_workers": 2}, {"shuffle": True}], ids=str)
def test_both_draw_as_often_from_the_generator(options):
    """Two passes move the global stream equally: seen by what a pass with the same options draws
    after as many draws.
    """

    def draws(T):
        data = numbers(T.utils.data)
        T.manual_seed(0)
        for _ in T.utils.data.DataLoader(data, 4, **options):
            pass
        after = T.get_rng_state()
        for n in range(5):
            T.manual_seed(0)
            for _ in range(n):
                T.empty((), dtype=T.int64).random_()
            if bool((T.get_rng_state() == after).all()):
                return n
        return None

    assert draws(taeda) == draws(torch) is not None
