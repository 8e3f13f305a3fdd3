"""The ring over machines, on loopback sockets and threads: every machine gets the same bits, in a
fixed order.
"""

from __future__ import annotations

import socket
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import taeda
from taeda import distributed as dist
from taeda.distributed._sums import ring as ring_module
from taeda.distributed._sums.ring import Ring
from taeda.distributed._waiting import Deadline


def late(deadline: Deadline) -> dist.DistTimeoutError:
    return dist.DistTimeoutError(f"late after {deadline.seconds:g} s")


def on_each(count: int, act) -> list:
    with ThreadPoolExecutor(count) as pool:
        return [done.result(60) for done in [pool.submit(act, number) for number in range(count)]]


def rings(count: int) -> list[Ring]:
    pairs = [socket.socketpair() for _ in range(count)]  # pair i leads from machine i to the next
    return [Ring(pairs[i][0], pairs[i - 1][1], i, count) for i in range(count)]


def reduced(values: list[taeda.Tensor], kernel=taeda.add) -> list:
    made = rings(len(values))

    def act(node: int) -> None:
        made[node].all_reduce(values[node], kernel, Deadline(60), lambda: None, late)

    try:
        on_each(len(values), act)
    finally:
        for ring in made:
            ring.close()
    return [value.numpy() for value in values]


@pytest.mark.parametrize("nodes", [2, 3, 5])
@pytest.mark.parametrize("numel", [0, 1, 63, 1000, 100_003])
def test_all_machines_get_the_same_bits_in_the_order_of_the_ring(monkeypatch, nodes, numel):
    monkeypatch.setattr(ring_module, "PIECE", 1 << 12)
    generator = np.random.default_rng(nodes * numel + 1)
    given = [generator.standard_normal(numel).astype(np.float32) for _ in range(nodes)]
    found = reduced([taeda.tensor(values) for values in given])
    each = -(-numel // (64 * nodes)) * 64
    want = np.empty(numel, np.float32)
    for part in range(nodes):
        piece = slice(part * each, (part + 1) * each)
        total = given[part][piece].copy()  # begins at the machine of the part's number
        for step in range(1, nodes):
            total = total + given[(part + step) % nodes][piece]
        want[piece] = total
    for values in found:
        np.testing.assert_array_equal(values, want)


@pytest.mark.parametrize(
    ("kernel", "dtype", "want"),
    [
        (taeda.maximum, taeda.int64, 3),
        (taeda.mul, taeda.float64, 6),
        (taeda.minimum, taeda.uint8, 1),
    ],
)
def test_other_reductions_and_dtypes(kernel, dtype, want):
    found = reduced([taeda.full((5000,), n, dtype=dtype) for n in (1, 2, 3)], kernel)
    assert all((values == want).all() for values in found)


def test_a_machine_that_does_not_come_is_late():
    one, other = rings(2)
    with pytest.raises(dist.DistTimeoutError, match=r"late after 0\.2 s"):
        one.all_reduce(taeda.ones(9), taeda.add, Deadline(0.2), lambda: None, late)
    one.close(), other.close()


def test_a_machine_that_has_gone_is_told_by_the_look():
    one, other = rings(2)
    other.close()

    def look() -> None:
        raise dist.DistPeerDiedError("rank 1 has ended", [1])

    with pytest.raises(dist.DistPeerDiedError):
        one.all_reduce(taeda.ones(9), taeda.add, Deadline(60), look, late)
    one.close()
