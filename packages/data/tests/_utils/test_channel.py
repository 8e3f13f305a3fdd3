"""Messages between processes."""

from __future__ import annotations

import os
import threading

import pytest

from taeda.utils.data._utils.channel import Channel


def test_messages_arrive_whole_and_in_order():
    a, b = Channel.pair()
    sizes = [0, 1, 70_000, 3_000_000]
    sender = threading.Thread(target=lambda: [a.send(bytes([i]) * n) for i, n in enumerate(sizes)])
    sender.start()
    for i, n in enumerate(sizes):
        message, descriptors = b.receive()
        assert message == bytes([i]) * n and descriptors == []
    sender.join()
    a.close()
    b.close()


def test_descriptors_come_with_their_message():
    a, b = Channel.pair()
    readable, writable = os.pipe()
    a.send(b"one")
    a.send(b"two", [writable])
    assert b.receive() == (b"one", [])
    message, (copy,) = b.receive()
    assert message == b"two" and copy != writable
    os.write(copy, b"x")
    assert os.read(readable, 1) == b"x"
    for fd in (readable, writable, copy):
        os.close(fd)
    a.close()
    b.close()


def test_the_other_end_is_gone():
    a, b = Channel.pair()
    a.socket.sendall(b"half a head")
    a.close()
    with pytest.raises(EOFError):
        b.receive()
    with pytest.raises(BrokenPipeError):
        b.send(b"x")
    b.close()
