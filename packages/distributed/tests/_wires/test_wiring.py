"""Connections between the members of a group, on loopback sockets and threads: who belongs to it
gets them.
"""

from __future__ import annotations

import errno
import socket
import struct
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from taeda import distributed as dist
from taeda.distributed._stores.wire import MAGIC, prove
from taeda.distributed._wires import wiring as wiring_module
from taeda.distributed._wires.wiring import agree, lay

ENOUGH = timedelta(seconds=60)


def on_each(count: int, act) -> list:
    with ThreadPoolExecutor(count) as pool:
        return [done.result(60) for done in [pool.submit(act, number) for number in range(count)]]


@pytest.fixture
def store(monkeypatch):
    monkeypatch.setattr(wiring_module, "_address", lambda store: "127.0.0.1")
    with_server = dist.TCPStore("127.0.0.1", 0, is_master=True)
    with_server.set_timeout(ENOUGH)
    yield with_server
    with_server.close()


def mesh(store, count: int) -> list:
    def act(number: int):
        return lay(store, number, count, range(number), range(number + 1, count), ENOUGH)

    return on_each(count, act)


def close(laid) -> None:
    for one in laid:
        for sockets in one or ():
            for sock in sockets.values():
                sock.close()


@pytest.mark.parametrize("count", [2, 5])
def test_every_pair_is_connected_and_knows_who_it_is(store, count):
    laid = mesh(store, count)
    every = [{**to, **come} for to, come in laid]
    for number, sockets in enumerate(every):
        assert sorted(sockets) == [other for other in range(count) if other != number]
        for other, sock in sockets.items():
            assert sock.getsockname() == every[other][number].getpeername()
            assert not sock.getblocking()
    close(laid)


def test_a_ring_of_two_has_two_connections(store):
    laid = on_each(2, lambda n: lay(store, n, 2, [1 - n], [1 - n], ENOUGH))
    for number, (to, come) in enumerate(laid):
        assert to[1 - number].getpeername() == laid[1 - number][1][number].getsockname()
        assert to[1 - number].getsockname() != come[1 - number].getsockname()
    close(laid)


def test_an_address_that_nobody_reaches_and_nobody_has_connections(store, monkeypatch):
    monkeypatch.setattr(wiring_module, "_address", lambda store: "")
    assert mesh(store, 3) == [None] * 3


def test_a_member_that_cannot_be_reached_is_waited_for_in_vain(store, monkeypatch):
    monkeypatch.setattr(wiring_module, "_CONNECT", 0.3)
    for key, value in (("secret", "s"), ("at/0", "127.0.0.1 1"), ("at/1", "127.0.0.1 1")):
        store.set(key, value)  # the port of nobody
    assert lay(store, 2, 3, [1], [], ENOUGH) is None
    assert lay(store, 2, 3, [], [1], ENOUGH) is None, "nobody comes"


def test_strangers_are_no_members(store, monkeypatch):
    """They connect before the member does, and say nothing, a part of an answer, rubbish, another
    number, or leave, at once or in the middle of the greeting. Nobody waits for one.
    """
    seen, strangers = [], []
    honest = wiring_module._Wiring.lay

    def lay_among_strangers(self):
        if self._come:
            port = self._listener.getsockname()[1]
            seen.append(port)
            new = [socket.create_connection(("127.0.0.1", port)) for _ in range(20)]
            new[0].sendall(b"x" * 36)
            new[1].close()
            number = (1).to_bytes(4, "big")
            new[2].sendall(number + b"\0" * 32)  # a member's number, and no proof
            for sock in new[4:]:
                sock.sendall(b"x")  # and no more
            new[3].setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            new[3].close()  # which is a reset
            strangers.extend(new)
        return honest(self)

    monkeypatch.setattr(wiring_module._Wiring, "lay", lay_among_strangers)
    before = time.monotonic()
    laid = mesh(store, 2)
    assert seen and time.monotonic() - before < 5
    assert laid[0][1][1].getpeername() == laid[1][0][0].getsockname()
    close(laid)
    for sock in strangers:
        sock.close()


def test_strangers_that_take_all_descriptors_go_first():
    class Full(socket.socket):
        """A listener that has no descriptor left, once, after a stranger came."""

        refused = False

        def accept(self):
            if wiring._strangers and not self.refused:
                self.refused = True
                raise OSError(errno.EMFILE, "Too many open files")
            return super().accept()

    with Full() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        wiring = wiring_module._Wiring(listener, b"secret", 0, {}, {1})
        stranger = socket.create_connection(listener.getsockname())
        with ThreadPoolExecutor(1) as pool:
            laid = pool.submit(wiring.lay)
            with stranger, socket.create_connection(listener.getsockname()) as member:
                greeting, number = member.recv(20, socket.MSG_WAITALL), (1).to_bytes(4, "big")
                member.sendall(number + prove(b"secret", greeting + number))
                assert laid.result(10)[1][1].getpeername() == member.getsockname()
                assert listener.refused and stranger.recv(20, socket.MSG_WAITALL)[:4] == MAGIC
                assert stranger.recv(1) == b"", "it was closed before the member had come"
        close([laid.result()])


@pytest.mark.parametrize(
    ("able", "answer"), [([True, True, True], True), ([True, False, True], False)]
)
def test_all_are_able_or_nobody_goes_on(store, able, answer):
    assert on_each(3, lambda n: agree(store, able[n], n, 3, ENOUGH)) == [answer] * 3


def test_the_address_is_that_on_the_way_to_the_store():
    assert wiring_module._address(dist.HashStore()) == ""
    local = dist.TCPStore("127.0.0.1", 0, is_master=True)
    assert wiring_module._address(dist.PrefixStore("a", local)) == "", (
        "others do not reach a loopback"
    )
    local.close()
