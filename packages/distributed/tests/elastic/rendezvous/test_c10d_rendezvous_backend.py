"""The state of a rendezvous in a store."""

from __future__ import annotations

import pytest

import taeda.distributed as dist
from taeda.distributed.elastic.rendezvous import RendezvousParameters
from taeda.distributed.elastic.rendezvous import c10d_rendezvous_backend as backends
from taeda.distributed.elastic.rendezvous.api import RendezvousConnectionError
from taeda.distributed.elastic.rendezvous.c10d_rendezvous_backend import (
    C10dRendezvousBackend,
    create_backend,
)


def parameters(endpoint, **words):
    return RendezvousParameters("c10d", endpoint, "job", 1, 2, **words)


def test_a_state_is_set_by_who_knows_the_last_one():
    store = dist.HashStore()
    one, two = C10dRendezvousBackend(store, "job"), C10dRendezvousBackend(store, "job")
    assert one.name == "c10d" and one.get_state() is None
    state, token, mine = one.set_state(b"\x00first")
    assert (state, mine) == (b"\x00first", True) and two.get_state() == (b"\x00first", token)
    found = two.set_state(b"second")
    assert found == (b"\x00first", token, False)
    state, token, mine = two.set_state(b"second", token)
    assert (state, mine) == (b"second", True) and one.get_state()[0] == b"second"
    assert C10dRendezvousBackend(store, "other").get_state() is None
    with pytest.raises(ValueError, match="the name of a job"):
        C10dRendezvousBackend(store, "")


def test_a_store_that_fails_is_a_connection_that_fails():
    class Broken(dist.HashStore):
        def get(self, key):
            raise dist.DistNetworkError("broke")

    with pytest.raises(RendezvousConnectionError, match="the store of the rendezvous: broke"):
        C10dRendezvousBackend(Broken(), "job").get_state()


def test_a_store_in_a_file(tmp_path):
    path = str(tmp_path / "store")
    backend, store = create_backend(parameters(path, store_type="FILE"))
    assert isinstance(store, dist.FileStore) and backend.set_state(b"x")[2]
    with pytest.raises(ValueError, match="store_type is tcp or file, not 'smoke'"):
        create_backend(parameters(path, store_type="smoke"))


def test_a_store_at_an_address():
    first = dist.TCPStore("127.0.0.1", 0, is_master=True)
    try:
        place = f"127.0.0.1:{first.port}"
        for words in ({}, {"is_host": "false"}):  # the port is taken: another agent was quicker
            backend, store = create_backend(parameters(place, **words))
            assert store.port == first.port
            assert backend.get_state() is None
            store.close()
    finally:
        first.close()
    backend, store = create_backend(parameters("127.0.0.1:0"))
    assert store.port > 0
    store.close()


def test_an_address_where_nobody_is():
    taken = dist.TCPStore("127.0.0.1", 0, is_master=True)
    port = taken.port
    taken.close()
    with pytest.raises(RendezvousConnectionError, match="no store answers"):
        create_backend(parameters(f"127.0.0.1:{port}", is_host="false", read_timeout=1))
    assert backends._is_here("127.0.0.1") and not backends._is_here("192.0.2.1")
