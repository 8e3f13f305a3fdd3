"""A fixed number of machines that know their numbers."""

from __future__ import annotations

import threading

import pytest

from taeda.distributed.elastic.rendezvous import RendezvousParameters
from taeda.distributed.elastic.rendezvous.api import RendezvousConnectionError
from taeda.distributed.elastic.rendezvous.static_tcp_rendezvous import (
    StaticTCPRendezvous,
    create_rdzv_handler,
    split_endpoint,
)


def test_machine_0_serves_the_store_of_both():
    first = StaticTCPRendezvous("127.0.0.1", 0, 0, 1, "job", 20)
    info = first.next_rendezvous()
    assert (info.rank, info.world_size) == (0, 1) and first.next_rendezvous().rank == 0
    info.store.set("k", "v")
    port = first._store.port
    assert info.bootstrap_store_info.master_port == port > 0
    assert (first.get_backend(), first.use_agent_store, first.get_run_id()) == (
        "static",
        True,
        "job",
    )
    first.set_closed()
    assert not first.is_closed() and first.num_nodes_waiting() == 0
    assert first.shutdown() and first.shutdown()
    late = StaticTCPRendezvous("127.0.0.1", port, 1, 2, "job", 0.3)
    with pytest.raises(RendezvousConnectionError, match="no store answers"):
        late.next_rendezvous()


def test_two_machines_share_keys_by_job():
    first = StaticTCPRendezvous("127.0.0.1", 0, 0, 1, "job", 20)
    store = first.next_rendezvous().store
    second = StaticTCPRendezvous("127.0.0.1", first._store.port, 1, 1, "job", 20)
    found = []
    thread = threading.Thread(target=lambda: found.append(second.next_rendezvous().store.get("k")))
    thread.start()
    store.set("k", "v")
    thread.join(20)
    assert found == [b"v"]
    assert second.shutdown() and first.shutdown()


def parameters(endpoint, nodes=2, **words):
    return RendezvousParameters("static", endpoint, "job", nodes, nodes, **words)


def test_from_parameters():
    made = create_rdzv_handler(parameters("[::1]:5000", rank="1", timeout="7"))
    assert (made.master_addr, made.master_port, made.rank, made.world_size) == ("::1", 5000, 1, 2)
    assert made.timeout.total_seconds() == 7 and made.run_id == "job"
    assert create_rdzv_handler(parameters("node", rank=0)).master_port == 29500
    with pytest.raises(ValueError, match="needs this machine's number, rank"):
        create_rdzv_handler(parameters("node"))
    with pytest.raises(ValueError, match="number 2 is outside of 0 to 1"):
        create_rdzv_handler(parameters("node", rank=2))


@pytest.mark.parametrize(
    ("text", "found"),
    [("a:1", ("a", 1)), (" a ", ("a", 9)), ("", ("127.0.0.1", 9)), (":7", ("127.0.0.1", 7))],
)
def test_endpoints(text, found):
    assert split_endpoint(text, 9) == found
    with pytest.raises(ValueError, match="'a:b' is not of the form host:port"):
        split_endpoint("a:b", 9)
