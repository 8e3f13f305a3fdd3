"""Connections: whole messages, descriptors that arrive, and what happens to those that do not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

import pytest
from forks import descriptors, forked

import taeda
import taeda.multiprocessing as mp
from taeda.multiprocessing import _transport


def test_both_directions_and_the_standard_methods():
    one, two = mp.Pipe()
    one.send({"a": [1, 2]})
    assert two.poll(5)
    assert two.recv() == {"a": [1, 2]}
    two.send_bytes(b"x" * 10)
    assert one.recv_bytes() == b"x" * 10
    one.send_bytes(b"abc", 1, 2)
    buffer = bytearray(4)
    assert two.recv_bytes_into(buffer) == 2
    assert bytes(buffer) == b"bc\0\0"
    assert not two.poll()


def test_one_direction():
    source, sink = mp.Pipe(duplex=False)
    sink.send(1)
    assert source.recv() == 1
    with pytest.raises(OSError, match="write-only"):
        sink.recv()
    with pytest.raises(OSError, match="read-only"):
        source.send(1)


def test_a_closed_end():
    one, two = mp.Pipe()
    one.send(1)
    one.close()
    assert two.recv() == 1
    with pytest.raises(EOFError):
        two.recv()
    with pytest.raises(BrokenPipeError):
        two.send(1)
    with pytest.raises(OSError, match="closed"):
        one.send(1)


@pytest.mark.parametrize("size", [0, 1, (64 << 10) - 1, 64 << 10, (64 << 10) + 1, 5 << 20])
def test_messages_of_any_size(size):
    one, two = mp.Pipe()
    body = os.urandom(size)
    one.send_bytes(body)
    one.send([body, taeda.arange(3)])
    assert two.recv_bytes() == body
    copy, tensor = two.recv()
    assert copy == body
    assert tensor.tolist() == [0, 1, 2]


def test_a_message_too_long_for_its_reader():
    one, two = mp.Pipe()
    one.send_bytes(b"12345")
    with pytest.raises(OSError, match="bad message length"):
        two.recv_bytes(4)


@pytest.mark.parametrize("count", [1, 250, 251, 600])
def test_many_tensors_in_a_message(count):
    one, two = mp.Pipe()
    before = descriptors()
    tensors = [taeda.full((3,), float(i)) for i in range(count)]
    one.send(tensors)
    back = two.recv()
    assert all(a.is_set_to(b) for a, b in zip(tensors, back, strict=True))
    del tensors, back
    assert descriptors() == before


def test_a_tensor_arrives_from_a_sender_that_is_dead():
    one, two = mp.Pipe()

    def send_and_die():
        one.send(taeda.arange(1000))
        os.kill(os.getpid(), signal.SIGKILL)

    assert forked(send_and_die) == -signal.SIGKILL
    assert two.recv().sum() == 499500


def test_messages_nobody_reads_leave_nothing():
    before = descriptors()
    one, two = mp.Pipe()
    for _ in range(20):
        one.send(taeda.ones(10))
    one.close()
    two.close()
    assert descriptors() == before


def test_a_message_that_cannot_be_read_leaves_nothing():
    one, two = mp.Pipe()
    one.send([taeda.ones(3), Unreadable()])
    before = descriptors()
    with pytest.raises(ZeroDivisionError):
        two.recv()
    assert descriptors() <= before
    assert _transport._here.arrived == []


class Unreadable:
    def __reduce__(self):
        return divmod, (1, 0)


def test_readers_in_threads_share_out_the_messages():
    one, two = mp.Pipe()
    found = []

    def read():
        while (value := two.recv()) is not None:
            found.append(int(value[0]))

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for i in range(200):
        one.send(taeda.tensor([i]))
    for _ in threads:
        one.send(None)
    for thread in threads:
        thread.join(30)
    assert sorted(found) == list(range(200))


def test_bytes_read_apart_from_their_message_say_what_to_do():
    one, two = mp.Pipe()
    one.send(taeda.ones(3))
    data = two.recv_bytes()
    _transport.drop_arrived()
    with pytest.raises(RuntimeError, match="read messages with recv"):
        _transport.ForkingPickler.loads(data)


def test_a_reader_out_of_descriptors_is_told():
    program = """
import os, resource, taeda, taeda.multiprocessing as mp
one, two = mp.Pipe()
tensors = [taeda.ones(1) for _ in range(30)]
one.send(tensors)
free = os.dup(0)
os.close(free)
resource.setrlimit(resource.RLIMIT_NOFILE, (free + 10, free + 10))
try:
    two.recv()
except RuntimeError as error:
    assert "30 file descriptors" in str(error) and "ulimit -n" in str(error), error
one.send("still works")
print(two.recv())
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "still works\n", done.stderr
