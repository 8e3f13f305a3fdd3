"""The server of a TCPStore: strangers at its port, and many connections."""

from __future__ import annotations

import random
import socket

from forks import descriptors

import taeda.distributed as dist
from taeda.distributed._stores.server import Server


def test_strangers_at_the_port_do_no_harm():
    """2,000 messages of noise, before and after the secret: the server serves, and has only what it
    was given.
    """
    master = dist.TCPStore("127.0.0.1", 0, is_master=True)
    master.set("k", "v")
    noise = random.Random(0)
    from taeda.distributed._stores import wire

    for turn in range(500):
        with socket.create_connection(("127.0.0.1", master.port)) as sock:
            greeting = b""
            while len(greeting) < wire.GREETING_BYTES:
                greeting += sock.recv(wire.GREETING_BYTES - len(greeting))
            if turn % 2:
                sock.sendall(wire.prove(b"", greeting))
            for _ in range(4):
                body = noise.randbytes(noise.randrange(1, 60))
                frame = len(body).to_bytes(4, "big") + body if turn % 3 else body
                try:
                    sock.sendall(frame if turn % 2 else b"\xff" + frame)
                except OSError:
                    break
    assert master.get("k") == b"v"
    assert master.ping() < 5
    master.close()


def test_many_connections():
    master = dist.TCPStore("127.0.0.1", 0, is_master=True)
    clients = [master.clone() for _ in range(250)]
    for number, client in enumerate(clients):
        client.set(str(number), str(number))
    assert master.num_keys() == 250
    for client in clients:
        client.close()
    master.close()


def test_it_closes_after_its_thread_has_ended():
    """The thread sees that it is over when a message wakes it, before `close` comes to wake it."""
    open_before = descriptors()
    server = Server(socket.create_server(("127.0.0.1", 0)), b"")
    server._done = True
    socket.create_connection(server._listener.getsockname()).close()
    server._thread.join(5)
    server._done = False
    server.close()
    server.close()
    assert descriptors() == open_before
