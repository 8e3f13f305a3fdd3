"""Resuming in the middle of an epoch."""

from __future__ import annotations

import random

import numpy as np
import pytest
from loader_data import Noisy, Numbers, Resumable, Stream

import taeda
from taeda.utils.data import (
    DataLoader,
    RandomSampler,
    Sampler,
    TensorDataset,
    WeightedRandomSampler,
)


def plain(batch):
    if isinstance(batch, taeda.Tensor):
        return batch.tolist()
    return [plain(b) for b in batch] if isinstance(batch, (list, tuple)) else batch


def seed_all():
    taeda.manual_seed(11)
    random.seed(11)
    np.random.seed(11)


def after(make, stop, resume=None, epochs=2):
    """Batches from the `stop`-th on, of a run without a break; and of one that is resumed by
    another loader.
    """
    seed_all()
    loader = make()
    batches = iter(loader)
    for _ in range(stop):
        next(batches)
    state = loader.state_dict()
    streams = taeda.get_rng_state(), random.getstate(), np.random.get_state()
    wanted = [*map(plain, batches)] + [plain(b) for _ in range(epochs - 1) for b in loader]

    taeda.manual_seed(999)
    random.seed(999)
    loader = (resume or make)()
    loader.load_state_dict(state)
    taeda.set_rng_state(streams[0])  # what a checkpoint of the program holds
    random.setstate(streams[1])
    np.random.set_state(streams[2])
    got = [plain(b) for _ in range(epochs) for b in loader]
    return wanted, got


ORDERS = {
    "in order": {},
    "shuffled": {"shuffle": True},
    "dropping": {"shuffle": True, "drop_last": True},
    "drawn": {"sampler": "drawn"},
    "weighted": {"sampler": "weighted"},
    "pythons": {"sampler": "python"},
    "single": {"batch_size": None, "shuffle": True},
}


class PythonSampler(Sampler):
    """An order that Python's generator decides, and numpy's."""

    def __iter__(self):
        order = [*range(17)]
        random.shuffle(order)
        yield from order[: 10 + np.random.randint(5)]


SAMPLERS = {
    "drawn": lambda: RandomSampler(range(17), replacement=True, num_samples=40),
    "weighted": lambda: WeightedRandomSampler([1, 2, 3] * 5, 20),
    "python": PythonSampler,
}


def options_of(order):
    options = dict(ORDERS[order])
    if "sampler" in options:
        options["sampler"] = SAMPLERS[options["sampler"]]()
    return {"batch_size": 3, **options}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("rows", [False, True], ids=["samples", "rows"])
def test_one_process_goes_on_at_any_batch(order, rows):
    data = TensorDataset(taeda.arange(17), taeda.arange(17) * 2) if rows else Numbers(17)
    for stop in range(4):
        wanted, got = after(lambda: DataLoader(data, **options_of(order)), stop)
        assert got == wanted


@pytest.mark.parametrize("order", ["in order", "shuffled", "pythons"])
@pytest.mark.parametrize("workers", [1, 2, 3])
def test_workers_go_on_at_any_batch(order, workers):
    for stop in (0, 1, 4):
        make = lambda: DataLoader(Numbers(17), num_workers=workers, **options_of(order))  # noqa: E731
        wanted, got = after(make, stop)
        assert got == wanted


def test_the_order_does_not_depend_on_the_number_of_workers():
    for before, then in ((0, 2), (2, 0), (3, 1)):
        wanted, got = after(
            lambda n=before: DataLoader(Numbers(17), 3, shuffle=True, num_workers=n),
            2,
            lambda n=then: DataLoader(Numbers(17), 3, shuffle=True, num_workers=n),
        )
        assert got == wanted


@pytest.mark.parametrize("persistent", [False, True])
def test_random_numbers_of_workers_go_on(persistent):
    for stop in (0, 1, 3):
        wanted, got = after(
            lambda: DataLoader(
                Noisy(12), 2, num_workers=2, shuffle=True, persistent_workers=persistent
            ),
            stop,
            epochs=1,
        )
        assert got == wanted


def test_random_numbers_of_batches_go_on_with_any_number_of_workers():
    for before, then in ((2, 3), (2, 0), (0, 2)):
        wanted, got = after(
            lambda n=before: DataLoader(
                Noisy(12), 2, num_workers=n, shuffle=True, seed_batches=True
            ),
            3,
            lambda n=then: DataLoader(Noisy(12), 2, num_workers=n, shuffle=True, seed_batches=True),
        )
        assert got == wanted


@pytest.mark.parametrize("data", [Stream(13), Resumable(13)], ids=["read past", "own state"])
@pytest.mark.parametrize("workers", [0, 2, 3])
def test_streams_go_on(data, workers):
    import copy

    for stop in (0, 1, 4):
        wanted, got = after(
            lambda: DataLoader(copy.deepcopy(data), batch_size=2, num_workers=workers), stop
        )
        assert got == wanted


def test_a_stream_with_a_state_of_its_own_is_not_read_again():
    loader = DataLoader(Resumable(12), batch_size=None, num_workers=2)
    batches = iter(loader)
    for _ in range(6):
        next(batches)
    resumed = DataLoader(Resumable(12), batch_size=None, num_workers=2)
    resumed.load_state_dict(loader.state_dict())
    assert list(resumed) == [[6, 4], [7, 4], [8, 5], [9, 5], [10, 6], [11, 6]]


def test_an_own_generator_goes_on_with_all_epochs():
    def make(seed):
        generator = taeda.Generator().manual_seed(seed)
        return DataLoader(Numbers(9), 2, shuffle=True, num_workers=2, generator=generator)

    loader = make(1)
    batches = iter(loader)
    next(batches)
    state = loader.state_dict()
    wanted = [plain([*batches]), plain([*loader]), plain([*loader])]
    resumed = make(2)
    resumed.load_state_dict(state)
    assert [plain([*resumed]) for _ in range(3)] == wanted


class Lazy(Sampler):
    """Draws each index when it is asked for it, and once more at its end."""

    def __init__(self, generator):
        self.generator = generator

    def __iter__(self):
        for _ in range(23):
            yield taeda.randint(17, (), generator=self.generator).item()
        taeda.rand((), generator=self.generator)


class LazyBatches(Lazy):
    """The same for whole batches."""

    def __iter__(self):
        for _ in range(8):
            yield taeda.randint(17, (3,), generator=self.generator).tolist()


OWN = {
    "shuffled": lambda g: {"batch_size": 3, "shuffle": True, "generator": g},
    "chunks": lambda g: {"sampler": RandomSampler(range(17), True, 50, g), "batch_size": 3},
    "many times over": lambda g: {
        "sampler": RandomSampler(range(17), False, 40, g),
        "batch_size": 3,
    },
    "singly": lambda g: {"sampler": RandomSampler(range(17), True, 40, g), "batch_size": None},
    "lazy": lambda g: {"sampler": Lazy(g), "batch_size": 2},
    "lazy batches": lambda g: {"batch_sampler": LazyBatches(g)},
    "lazy, and the loader's": lambda g: {"sampler": Lazy(g), "batch_size": 2, "generator": g},
}


@pytest.mark.parametrize("order", OWN)
@pytest.mark.parametrize(("before", "then"), [(0, 0), (2, 2), (0, 2), (3, 1)])
def test_a_sampler_with_a_generator_of_its_own_goes_on_at_any_batch(order, before, then):
    def make(workers, seed=7):
        options = OWN[order](taeda.Generator().manual_seed(seed))
        return DataLoader(Numbers(17), num_workers=workers, **options)

    batches = sum(1 for _ in make(0))
    for stop in range(0, min(batches, 12), 1 if before == then == 0 else 3):
        wanted, got = after(lambda: make(before), stop, lambda: make(then, 8))
        assert got == wanted


@pytest.mark.parametrize("workers", [0, 2])
def test_a_generator_that_the_program_uses_is_told_of_only_where_it_matters(workers):
    for lazy in (False, True):
        shared = taeda.Generator().manual_seed(3)
        sampler = Lazy(shared) if lazy else RandomSampler(range(17), generator=shared)
        loader = DataLoader(Numbers(17), 2, sampler=sampler, num_workers=workers)
        batches = iter(loader)
        next(batches), next(batches)
        taeda.rand(3, generator=shared)
        loader.load_state_dict(loader.state_dict())
        if not lazy:
            assert [plain(b) for b in loader] == [plain(b) for b in batches]
            continue
        with pytest.warns(UserWarning, match="give it a generator of its own"):
            next(iter(loader))


def test_a_sampler_that_draws_from_the_global_stream_as_it_goes_along_is_told_of():
    loader = DataLoader(Numbers(17), 2, sampler=Lazy(None))
    batches = iter(loader)
    next(batches), next(batches)
    loader.load_state_dict(loader.state_dict())
    with pytest.warns(UserWarning, match="give it a generator of its own"):
        next(iter(loader))


def test_an_order_that_cannot_be_drawn_again_leaves_the_generators():
    class Broken(Lazy):
        broken = False

        def __iter__(self):
            for index in super().__iter__():
                if self.broken:
                    raise OSError("no more")
                yield index

    own = taeda.Generator().manual_seed(3)
    loader = DataLoader(Numbers(17), 2, sampler=Broken(own))
    next(batches := iter(loader))
    loader.load_state_dict(loader.state_dict())
    before = own.get_state().tolist(), taeda.get_rng_state().tolist()
    loader.sampler.broken = True
    with pytest.raises(OSError, match="no more"):
        next(iter(loader))
    assert (own.get_state().tolist(), taeda.get_rng_state().tolist()) == before
    del batches


def test_a_state_that_does_not_tell_how_much_was_drawn():
    loader = DataLoader(Numbers(17), 3, shuffle=True)
    batches = iter(loader)
    next(batches), next(batches)
    old = {k: v for k, v in loader.state_dict().items() if k not in ("drawn", "exhausted")}
    loader.load_state_dict(old)
    assert [plain(b) for b in loader] == [plain(b) for b in batches]


# ---- samples that fail ----


class Failing(Numbers):
    """Raises at some indices."""

    def __getitem__(self, i):
        if i in self.wrong:
            raise self.error(f"sample {i}")
        return i


def outcomes(loader):
    """What each call gives until the end, errors included, and the state before each."""
    batches, found, states = iter(loader), [], []
    while True:
        states.append(loader.state_dict())
        try:
            found.append(plain(next(batches)))
        except StopIteration as end:
            if not end.args:
                return found, states
            found.append(str(end).splitlines()[0])
        except ValueError as error:
            found.append("sample" in str(error))


FAILING = {
    "batches": {"batch_size": 2},
    "dropping": {"batch_size": 5, "drop_last": True},
    "singly": {"batch_size": None},
    "seeded": {"batch_size": 2, "seed_batches": True},
    "batch sampler": {"batch_sampler": [[0, 1], [5, 2], [3], [5], [4]]},
}


@pytest.mark.parametrize("options", FAILING.values(), ids=FAILING)
@pytest.mark.parametrize("wrong", [{0}, {5}, {11}, {0, 1, 2, 3}, {*range(12)}], ids=str)
def test_a_sample_that_fails_costs_its_own_batch_only(options, wrong):
    data = Failing(12)
    data.wrong, data.error = wrong, ValueError
    here, states = outcomes(DataLoader(data, **options))
    there, _ = outcomes(DataLoader(data, num_workers=2, **options))
    assert here == there
    assert True in here or wrong == {11}  # which some of these orders leave out
    for given, state in enumerate(states[:-1]):
        resumed = DataLoader(data, **options)
        resumed.load_state_dict(state)
        assert outcomes(resumed)[0] == here[given:]


def test_a_sample_that_stops_the_iteration_ends_a_loop_and_not_the_epoch():
    data = Failing(6)
    data.wrong, data.error = {2}, StopIteration
    found, _ = outcomes(DataLoader(data, 2))
    assert found == [[0, 1], "sample 2", [4, 5]]


def test_a_stream_that_has_ended_stays_so():
    batches = iter(DataLoader(Stream(3), batch_size=2))
    assert [plain(b) for b in batches] == [[0, 1], [2]]
    for _ in range(2):
        with pytest.raises(StopIteration):
            next(batches)


def test_batches_given_out_of_order_are_not_given_again():
    loader = DataLoader(Numbers(20, at={0: "nap"}), num_workers=2, in_order=False, collate_fn=tuple)
    batches = iter(loader)
    first = [next(batches) for _ in range(4)]
    assert (None,) not in first
    resumed = DataLoader(Numbers(20), num_workers=2, in_order=False, collate_fn=tuple)
    resumed.load_state_dict(loader.state_dict())
    rest = list(resumed)
    assert sorted(first + rest) == [(i,) for i in range(20)]


def test_between_epochs_and_before_the_first():
    loader = DataLoader(Numbers(5), shuffle=True)
    fresh = loader.state_dict()
    list(loader)
    assert loader.state_dict() == fresh
    other = DataLoader(Numbers(5))
    other.load_state_dict(fresh)
    assert other.state_dict() == fresh
    assert plain(list(other)) == [[0], [1], [2], [3], [4]]


def test_a_state_is_saved_like_a_checkpoint(tmp_path):
    def make():
        return DataLoader(Noisy(12), 2, num_workers=2, shuffle=True)

    loader = make()
    batches = iter(loader)
    next(batches)
    taeda.save(loader.state_dict(), tmp_path / "loader")
    wanted = [plain(b) for b in batches]
    resumed = make()
    resumed.load_state_dict(taeda.load(tmp_path / "loader"))
    assert [plain(b) for b in resumed] == wanted


def state_with(**changes):
    loader = DataLoader(Numbers(5), 2)
    next(iter(loader))
    batches = iter(loader)
    next(batches)
    return {**loader.state_dict(), **changes}


REFUSED = {
    "no state": (3, "version int"),
    "another version": (state_with(version=7), "version 7"),
    "another batch size": (state_with(batch_size=3), "batch_size=3, this loader has batch_size=2"),
    "a generator": (state_with(generators=[taeda.get_rng_state()]), "holds 1 generators"),
}


@pytest.mark.parametrize(("state", "fact"), REFUSED.values(), ids=REFUSED)
def test_states_that_do_not_fit(state, fact):
    with pytest.raises(ValueError, match=fact):
        DataLoader(Numbers(5), 2).load_state_dict(state)


def test_streams_want_as_many_workers():
    loader = DataLoader(Stream(9), num_workers=2)
    batches = iter(loader)
    next(batches)
    with pytest.raises(ValueError, match="read by 2 workers, this loader has num_workers=3"):
        DataLoader(Stream(9), num_workers=3).load_state_dict(loader.state_dict())


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("given", [0, 3, 7])
@pytest.mark.parametrize("asked", [1, 2])
@pytest.mark.parametrize("begun", [False, True])
def test_asking_for_the_state_changes_nothing(workers, given, asked, begun):
    """Whenever and however often it is asked, before the first batch as well."""

    def make():
        return DataLoader(Resumable(13), batch_size=2, num_workers=workers)

    whole = plain([*make()])
    loader = make()
    batches = iter(loader)
    for _ in range(given):
        next(batches)
    state = loader.state_dict()
    for _ in range(asked):  # each state is taken from a loader that was resumed by the last
        loader = make()
        loader.load_state_dict(state)
        batches = iter(loader) if begun else None
        state = loader.state_dict()
    rest = plain([*(loader if batches is None else batches)])
    resumed = make()
    resumed.load_state_dict(state)
    wanted = whole[given:]
    assert [batch[0] for batch in rest] == [batch[0] for batch in wanted]
    assert [batch[0] for batch in plain([*resumed])] == [batch[0] for batch in wanted]
