"""The strategy "file_system": no descriptor stays open, and no file stays behind, whoever dies."""

from __future__ import annotations

import contextlib
import gc
import glob
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from children import echo
from forks import forked

import taeda
import taeda.multiprocessing as mp
from taeda import UntypedStorage
from taeda._native import core
from taeda._storage import shared_files as _shared_files
from taeda._storage import shared_files_watcher as _shared_files_watcher
from taeda._storage import sharing as _sharing


@pytest.fixture(autouse=True)
def _strategy():
    mp.set_sharing_strategy("file_system")
    yield
    mp.set_sharing_strategy("file_descriptor")


def file_of(tensor):
    return Path(core.segment_facts(tensor)[3])


def gone(path, seconds=20.0):
    """Whether a file is removed in time."""
    until = time.monotonic() + seconds
    while path.exists() and time.monotonic() < until:
        time.sleep(0.01)
    return not path.exists()


def test_a_file_lives_as_long_as_its_storage():
    x = taeda.arange(5.0)
    view = x[2:]
    path = file_of(x.share_memory_())
    assert path.stat().st_size == 20
    assert path.stat().st_mode & 0o777 == 0o600
    del x
    assert view.tolist() == [2, 3, 4]
    assert path.exists()
    del view
    assert gone(path)


def test_no_descriptor_stays_open():
    taeda.ones(3).share_memory_()  # the connection to the watcher
    gc.collect()
    before = len(os.listdir("/proc/self/fd"))
    kept = [taeda.ones(3).share_memory_() for _ in range(50)]
    assert len(os.listdir("/proc/self/fd")) == before
    assert UntypedStorage._new_shared(10).tolist() == [0] * 10
    assert kept[0].untyped_storage().filename is None


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_through_queues(method):
    context = mp.get_context(method)
    there, back = context.Queue(), context.SimpleQueue()
    process = context.Process(target=echo, args=(there, back), daemon=True)
    process.start()
    x = taeda.arange(6)
    there.put([x, x[2:], taeda.empty(0)])
    whole, part, empty = back.get()
    assert whole.is_set_to(x)
    assert part.is_set_to(x[2:])
    assert empty.numel() == 0
    path = file_of(x)
    there.put(None)
    process.join(20)
    assert path.exists()
    del x, whole, part
    assert gone(path)


def test_a_message_outlives_a_sender_that_ended_well():
    queue = mp.SimpleQueue()
    process = mp.get_context("fork").Process(target=lambda: queue.put(taeda.arange(3)))
    taeda.ones(1).share_memory_()  # the watcher is this process's
    process.start()
    process.join(20)
    x = queue.get()
    path = file_of(x)
    assert x.tolist() == [0, 1, 2]
    assert path.exists()
    del x
    assert gone(path)


def test_a_receiver_sends_on_what_the_maker_has_dropped():
    queue = mp.SimpleQueue()
    x = taeda.arange(3)
    queue.put(x)
    received = queue.get()
    path = file_of(x)
    del x
    queue.put(received)
    assert queue.get().tolist() == [0, 1, 2]
    del received
    assert gone(path)


def test_files_of_a_killed_holder_go():
    read, write = os.pipe()
    taeda.ones(1).share_memory_()

    def hold_and_die():
        x = taeda.ones(3).share_memory_()
        os.write(write, str(file_of(x)).encode())
        os.kill(os.getpid(), signal.SIGKILL)

    assert forked(hold_and_die) == -signal.SIGKILL
    assert gone(Path(os.read(read, 1000).decode()))


def test_messages_of_a_killed_sender_go():
    queue = mp.SimpleQueue()
    taeda.ones(1).share_memory_()
    token = str(file_of(taeda.ones(1).share_memory_())).split("-")[1]

    def send_and_die():
        queue.put(taeda.ones(3))
        os.kill(os.getpid(), signal.SIGKILL)

    assert forked(send_and_die) == -signal.SIGKILL
    left = glob.glob(f"{_sharing.FILES}{token}-*")
    assert all(gone(Path(path)) for path in left)


def test_nothing_is_left_when_a_whole_program_is_killed():
    program = """
import os, signal, taeda, taeda.multiprocessing as mp
from taeda._native import core
mp.set_sharing_strategy("file_system")
x, queue = taeda.ones(3), mp.SimpleQueue()
queue.put(x)
print(core.segment_facts(x)[3], flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == -signal.SIGKILL
    assert gone(Path(done.stdout.strip()))


def test_a_move_that_fails_leaves_no_file(monkeypatch):
    x = taeda.ones(1 << 20)
    made = []
    new_file = _sharing._new_file

    def full():
        fd, name = new_file()
        made.append(name)
        os.close(fd)
        return os.open("/dev/full", os.O_RDWR), name

    monkeypatch.setattr(_sharing, "_new_file", full)
    with pytest.raises(RuntimeError, match=r"cannot write 4194304 bytes.*--shm-size"):
        x.share_memory_()
    assert not x.is_shared()
    assert gone(Path(made[0]))


def test_what_another_forked_process_made_can_be_sent_by_its_children():
    x = taeda.arange(3).share_memory_()
    queue = mp.SimpleQueue()
    process = mp.get_context("fork").Process(target=queue.put, args=(x,))
    process.start()
    assert queue.get().is_set_to(x)
    process.join(20)
    assert file_of(x).exists()


# ---- who may speak to the watcher, and of what ----


def stranger_to(tensor):
    """A connection to the watcher of a tensor's file, beside that of the library."""
    token = _shared_files._token(str(file_of(tensor)))
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    connection.connect(_shared_files._address(token))
    connection.settimeout(20)
    return connection


def answers(connection):
    """Whether the watcher still listens to this one."""
    try:
        connection.send(b"?")
        return connection.recv(1) == b"!"
    except (BrokenPipeError, ConnectionResetError):
        return False


def watched(tensor):
    """Whether the watcher of a tensor's file lives."""
    with stranger_to(tensor) as connection:
        return answers(connection)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_another_user_is_turned_away():
    x = taeda.ones(3).share_memory_()
    path = str(file_of(x))

    def as_nobody():
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
        with stranger_to(x) as connection:
            with contextlib.suppress(OSError):
                connection.send(b"-" + path.encode())
            os._exit(answers(connection))

    assert forked(as_nobody) == 0
    assert os.path.exists(path)
    assert watched(x)


def test_a_process_of_another_user_is_no_holder(monkeypatch):
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
        listening.bind("\0" + os.urandom(8).hex())
        listening.listen()
        watcher = _shared_files_watcher.Watcher(listening, "/dev/shm/taeda-0-")
        for uid, inside in [(os.geteuid() + 1, False), (os.geteuid(), True)]:
            monkeypatch.setattr(_shared_files_watcher, "peer_uid", lambda _, uid=uid: uid)
            with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
                connection.connect(listening.getsockname())
                assert watcher.accept() == inside
                assert len(watcher.holders) == inside
    for connection in watcher.holders:
        connection.close()


def test_a_watcher_of_another_user_is_not_believed(monkeypatch):
    x = taeda.ones(3).share_memory_()
    other = str(file_of(x)).replace(_shared_files._token(str(file_of(x))), "ab12")
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
        listening.bind(_shared_files._address("ab12"))
        listening.listen()
        monkeypatch.setattr(_shared_files_watcher, "peer_uid", lambda _: os.geteuid() + 1)
        with pytest.raises(RuntimeError, match=r"belongs to user \d+, this one to user \d+"):
            _shared_files._connection(other)
    assert "ab12" not in _shared_files._sockets


@pytest.mark.parametrize("word", ["+", "-", "F", "f"])
@pytest.mark.parametrize(
    "named", ["{file}", "{own}/../{file}", "{own}-1-1/../../..{file}", "{own}x-1-1", "{own}-1-1\n"]
)
def test_only_files_of_its_own_are_removed(tmp_path, word, named):
    x = taeda.ones(3).share_memory_()
    victim = tmp_path / "victim"
    victim.write_bytes(b"")
    name = named.format(file=victim, own=str(file_of(x)).rsplit("-", 2)[0])
    with stranger_to(x) as connection:
        connection.send(word.encode() + name.encode())
        assert not answers(connection)
    assert victim.exists()
    assert watched(x)


def test_nobody_takes_back_what_another_holds():
    x = taeda.ones(3).share_memory_()
    path = file_of(x)
    with stranger_to(x) as connection:
        for _ in range(3):
            connection.send(b"-" + str(path).encode())
        assert answers(connection)
        assert path.exists()
        connection.send(b"+" + str(path).encode())
        connection.send(b"-" + str(path).encode())
        assert answers(connection)
    assert path.exists()
    del x
    assert gone(path)


@pytest.mark.parametrize(
    "packet", [b"+\xff\xfe", b"x", b"+", b"?extra", b"\0" * 5000, b"+" + b"9" * 4096]
)
def test_a_bad_packet_ends_one_connection_only(packet):
    x = taeda.ones(3).share_memory_()
    with stranger_to(x) as connection:
        connection.send(packet)
        assert not answers(connection)
    path = file_of(taeda.ones(3).share_memory_())
    assert gone(path)
    assert file_of(x).exists()


def test_one_that_reads_no_answer_keeps_nobody_waiting():
    x = taeda.ones(3).share_memory_()
    with stranger_to(x) as connection:
        connection.setblocking(False)
        with contextlib.suppress(OSError):
            for _ in range(100_000):
                connection.send(b"?")
        assert watched(x)
