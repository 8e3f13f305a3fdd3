"""Machines that meet, late and too few."""

from __future__ import annotations

import threading
import time
from datetime import timedelta

import pytest

import taeda.distributed as dist
from taeda.distributed.elastic.rendezvous import (
    RendezvousClosedError,
    RendezvousTimeoutError,
)
from taeda.distributed.elastic.rendezvous.c10d_rendezvous_backend import C10dRendezvousBackend
from taeda.distributed.elastic.rendezvous.dynamic_rendezvous import (
    DynamicRendezvousHandler,
    RendezvousTimeout,
)


def handler(store, least, most, **limits):
    timeout = RendezvousTimeout(
        **{name: timedelta(seconds=value) for name, value in limits.items()}
    )
    return DynamicRendezvousHandler.from_backend(
        "job", store, C10dRendezvousBackend(store, "job"), least, most, timeout=timeout
    )


def test_machines_meet_and_more_come():
    store = dist.HashStore()
    first, second, third = (handler(store, 2, 3, join=20, last_call=0.2) for _ in range(3))
    found = {}

    def meet(name, one):
        found[name] = one.next_rendezvous()

    def together(**ones):
        threads = [threading.Thread(target=meet, args=item) for item in ones.items()]
        for thread in threads:
            thread.start()
        return threads

    for thread in together(a=first, b=second):
        thread.join(20)
    assert sorted((found["a"].rank, found["b"].rank)) == [0, 1] and found["a"].world_size == 2
    (late,) = together(c=third)
    until = time.monotonic() + 10
    while first.num_nodes_waiting() != 1:
        assert time.monotonic() < until
        time.sleep(0.01)
    for thread in (*together(a=first, b=second), late):
        thread.join(20)
    assert sorted(found[name].rank for name in "abc") == [0, 1, 2] and found["c"].world_size == 3
    first.set_closed()
    with pytest.raises(RendezvousClosedError):
        second.next_rendezvous()
    assert all(one.shutdown() for one in (first, second, third)) and third.is_closed()


def test_too_few_machines():
    with pytest.raises(RendezvousTimeoutError, match="1 of at least 2"):
        handler(dist.HashStore(), 2, 2, join=0.2).next_rendezvous()
