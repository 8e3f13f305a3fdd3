"""Collectives over connections, on threads: few values and many, from every root, beside NumPy."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import taeda
from taeda import distributed as dist
from taeda.distributed._sums.exchange import Exchange
from taeda.distributed._waiting import Deadline


def late(deadline: Deadline) -> dist.DistTimeoutError:
    return dist.DistTimeoutError(f"late after {deadline.seconds:g} s")


@pytest.fixture
def on_ranks(meshed):
    """`on_ranks(size, act)`: what `act(exchange)` returns on each of so many ranks."""

    def run_all(size: int, act) -> list:
        wires = meshed(size)

        def run(rank: int):
            exchange = Exchange(wires[rank], rank, size, lambda: None, late)
            exchange.begin(1, rank % 2 == 1)
            return act(exchange)

        with ThreadPoolExecutor(size) as pool:
            return [one.result(60) for one in [pool.submit(run, rank) for rank in range(size)]]

    return run_all


def given(rank: int, count: int) -> taeda.Tensor:
    return taeda.tensor(np.random.default_rng(rank).standard_normal(count).astype(np.float32))


@pytest.mark.parametrize("size", [2, 3, 5])
@pytest.mark.parametrize("count", [0, 1, 1000, 700_001])
def test_broadcast(on_ranks, size, count):
    for root in (0, size - 1):

        def act(exchange, root=root):
            values = given(exchange.rank, count)
            exchange.broadcast(values, root, Deadline(60))
            return values

        assert all(taeda.equal(got, given(root, count)) for got in on_ranks(size, act))


@pytest.mark.parametrize("size", [2, 3, 5])
@pytest.mark.parametrize("count", [1, 1000, 100_001])
def test_all_gather_of_uneven_parts(on_ranks, size, count):
    def act(exchange):
        outputs = [taeda.zeros(count + rank) for rank in range(size)]
        mine = exchange.rank
        exchange.all_gather(outputs, given(mine, count + mine), Deadline(60))
        return outputs

    for outputs in on_ranks(size, act):
        for rank, got in enumerate(outputs):
            assert taeda.equal(got, given(rank, count + rank))


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("count", [1, 50_000])
def test_reduce_scatter_adds_in_the_order_of_ranks(on_ranks, size, count):
    def act(exchange):
        output = taeda.zeros(count)
        flat = given(exchange.rank, size * count)
        exchange.reduce_scatter(output, flat, taeda.add, Deadline(60))
        return output.numpy()

    want = given(0, size * count).numpy().copy()
    for rank in range(1, size):
        want = want + given(rank, size * count).numpy()
    np.testing.assert_array_equal(np.concatenate(on_ranks(size, act)), want)


@pytest.mark.parametrize("count", [1, 60_000])
def test_everyone_swaps_with_everyone(on_ranks, count):
    def act(exchange):
        inputs = [taeda.full((count + to,), 10.0 * exchange.rank + to) for to in range(3)]
        outputs = [taeda.zeros(count + exchange.rank) for _ in range(3)]
        exchange.swap(list(enumerate(inputs)), list(enumerate(outputs)), Deadline(60))
        return outputs

    for rank, outputs in enumerate(on_ranks(3, act)):
        for source, got in enumerate(outputs):
            assert (got == 10.0 * source + rank).all()


def test_who_does_not_come_makes_the_others_late(on_ranks):
    def act(exchange):
        if exchange.rank == 0:
            return None
        with pytest.raises(dist.DistTimeoutError, match=r"late after 0\.2 s"):
            exchange.broadcast(taeda.zeros(5), 0, Deadline(0.2))
        return True

    assert on_ranks(2, act) == [None, True]
