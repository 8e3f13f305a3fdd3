"""The ring over machines, on loopback sockets and threads: every machine gets the same bits, in a
fixed order.
"""

from __future__ import annotations

import socket
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import numpy as np
import pytest

import taeda
from taeda import distributed as dist
from taeda.distributed import _ring
from taeda.distributed._ring import Ring, join_ring
from taeda.distributed._waiting import Deadline

ENOUGH = timedelta(seconds=60)


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
    monkeypatch.setattr(_ring, "PIECE", 1 << 12)
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


# ---- how the wires are laid ----


@pytest.fixture
def store(monkeypatch):
    monkeypatch.setattr(_ring, "_address", lambda store: "127.0.0.1")
    with_server = dist.TCPStore("127.0.0.1", 0, is_master=True)
    with_server.set_timeout(ENOUGH)
    yield with_server
    with_server.close()


def test_first_ranks_lay_wires_and_the_others_hear_of_it(store):
    """Three machines of two ranks each: members 0, 2 and 4 are the first ones."""

    def join(member: int):
        return join_ring(store, member // 2, 3, member % 2 == 0, True, member, 6, ENOUGH)

    joined = on_each(6, join)
    assert [(can, ring is not None) for can, ring in joined] == [(True, True), (True, False)] * 3
    leaders = [ring for _, ring in joined if ring is not None]
    values = [taeda.full((100,), 1.0 + n) for n in range(3)]
    on_each(
        3, lambda n: leaders[n].all_reduce(values[n], taeda.add, Deadline(60), lambda: None, late)
    )
    assert all((value == 6).all() for value in values)
    for ring in leaders:
        ring.close()


def test_one_that_is_not_able_and_nobody_has_a_ring(store):
    def join(member: int):
        return join_ring(store, member, 2, True, member == 0, member, 2, ENOUGH)

    assert on_each(2, join) == [(False, None), (False, None)]


def test_an_address_that_nobody_reaches_and_nobody_has_a_ring(store, monkeypatch):
    monkeypatch.setattr(_ring, "_address", lambda store: "")

    def join(member: int):
        return join_ring(store, member, 2, True, True, member, 2, ENOUGH)

    assert on_each(2, join) == [(False, None), (False, None)]


def test_strangers_are_no_members(store):
    """They connect before the machine before does, and say nothing, rubbish, or leave."""
    port, strangers = [], []
    honest = _ring._Wiring.lay

    def lay(self):
        if self._listener.getsockname()[1] not in port:
            port.append(self._listener.getsockname()[1])
            new = [socket.create_connection(("127.0.0.1", port[-1])) for _ in range(3)]
            new[0].sendall(b"x" * 32)
            new[1].close()
            strangers.extend(new)
        return honest(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_ring._Wiring, "lay", lay)
        joined = on_each(2, lambda n: join_ring(store, n, 2, True, True, n, 2, ENOUGH))
    assert all(can and ring is not None for can, ring in joined)
    values = [taeda.ones(7), taeda.ones(7)]
    on_each(
        2, lambda n: joined[n][1].all_reduce(values[n], taeda.add, Deadline(60), lambda: None, late)
    )
    assert all((value == 2).all() for value in values)
    for sock in (*strangers, *(ring for _, ring in joined)):
        sock.close()


def test_the_address_is_that_on_the_way_to_the_store():
    assert _ring._address(dist.HashStore()) == ""
    local = dist.TCPStore("127.0.0.1", 0, is_master=True)
    assert _ring._address(dist.PrefixStore("a", local)) == "", "others do not reach a loopback"
    local.close()
