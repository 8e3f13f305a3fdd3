"""Stores: the same promises from each kind; what only some have; strangers at the port of a TCPStore."""

from __future__ import annotations

import os
import random
import socket
import threading
from datetime import timedelta

import pytest

import taeda.distributed as dist


def seconds(n: float) -> timedelta:
    return timedelta(seconds=n)


KINDS = ["hash", "file", "tcp", "prefix"]


@pytest.fixture(params=KINDS)
def store(request, tmp_path):
    made = {
        "hash": dist.HashStore,
        "file": lambda: dist.FileStore(str(tmp_path / "store")),
        "tcp": lambda: dist.TCPStore("127.0.0.1", 0, is_master=True),
        "prefix": lambda: dist.PrefixStore("a", dist.PrefixStore("b", dist.HashStore())),
    }[request.param]()
    yield made
    if request.param == "tcp":
        made.close()


def test_values(store):
    store.set("k", "value")
    assert store.get("k") == b"value"
    store.set("k", b"\x00\xff" * 5000)
    assert store.get("k") == b"\x00\xff" * 5000
    assert store.check(["k"]) and not store.check(["k", "other"])
    store.append("k2", "ab")
    store.append("k2", "cd")
    assert store.multi_get(["k2", "k2"]) == [b"abcd"] * 2
    store.multi_set(["x", "y"], ["1", b"2"])
    assert store.multi_get(["y", "x"]) == [b"2", b"1"]
    before = store.num_keys()
    assert store.delete_key("x") is True and store.delete_key("x") is False
    assert store.num_keys() == before - 1
    assert store.has_extended_api()


def test_counters(store):
    assert [store.add("n", step) for step in (1, 5, -2)] == [1, 6, 4]
    assert store.get("n") == b"4"
    store.set("m", "7")
    assert store.add("m", 1) == 8
    store.set("word", "seven")
    with pytest.raises(dist.DistStoreError, match="no number"):
        store.add("word", 1)
    assert store.get("word") == b"seven" and store.add("n", 0) == 4  # it still serves


def test_compare_set(store):
    assert store.compare_set("k", "wanted", "new") == b"wanted" and not store.check(["k"])
    assert store.compare_set("k", "", "first") == b"first"
    assert store.compare_set("k", "other", "second") == b"first"
    assert store.compare_set("k", "first", "second") == b"second" == store.get("k")


def test_waiting_ends_in_time_and_names_the_keys(store):
    store.set("there", "")
    with pytest.raises(dist.DistStoreError, match=r"timeout after 0.1 s.*missing"):
        store.wait(["there", "missing"], seconds(0.1))
    store.set_timeout(seconds(0.1))
    assert store.timeout == seconds(0.1)
    with pytest.raises(dist.DistStoreError, match="timeout"):
        store.get("missing")
    store.set("missing", "now")
    assert store.get("missing") == b"now"


def test_a_waiting_thread_is_woken(store):
    found = []
    thread = threading.Thread(target=lambda: found.append(store.get("later")))
    thread.start()
    store.set("other", "x")
    store.set("later", "y")
    thread.join(10)
    assert found == [b"y"]


@pytest.mark.parametrize("timeout", [seconds(0), seconds(-1), 0])
def test_no_time_at_all_is_refused(store, timeout):
    with pytest.raises(ValueError, match="longer than nothing"):
        store.set_timeout(timeout)
    with pytest.raises(ValueError, match="longer than nothing"):
        store.wait(["k"], timeout)


def test_wrong_types(store):
    with pytest.raises(TypeError):
        store.set("k", 3)
    with pytest.raises(TypeError):
        store.set(3, "k")
    with pytest.raises(ValueError, match="2 keys and 1 values"):
        store.multi_set(["a", "b"], ["c"])


@pytest.mark.parametrize("kind", ["hash", "tcp", "prefix"])
def test_queues(kind):
    made = {"hash": dist.HashStore, "tcp": lambda: dist.TCPStore("127.0.0.1", 0, is_master=True),
            "prefix": lambda: dist.PrefixStore("p", dist.HashStore())}[kind]()  # fmt: skip
    made.queue_push("q", "1")
    made.queue_push("q", "2")
    assert made.queue_len("q") == 2 and made.check(["q"])
    assert [made.queue_pop("q"), made.queue_pop("q")] == [b"1", b"2"]
    with pytest.raises(dist.QueueEmptyError):
        made.queue_pop("q", block=False)
    assert made.queue_len("q") == 0


def test_a_store_of_ones_own():
    class Mine(dist.HashStore):
        def set(self, key, value):
            super().set(key, value)
            self.last = key

    mine = Mine()
    dist.PrefixStore("p", mine).set("k", "v")
    assert mine.last == "p/k"


def test_a_file_is_shared_and_deleted_by_the_last(tmp_path):
    path = str(tmp_path / "store")
    one, two = dist.FileStore(path, 2), dist.FileStore(path, 2)
    one.set("k", "v")
    assert two.get("k") == b"v" and two.path == path
    one.close()
    assert os.path.exists(path)
    two.close()
    assert not os.path.exists(path)


def test_a_record_that_was_cut_off_does_no_harm(tmp_path):
    path = str(tmp_path / "store")
    one = dist.FileStore(path)
    one.set("k", "v")
    with open(path, "ab") as file:
        file.write(b"\x05\x00\x00\x00\xff\x00")  # a writer that was killed
    one.set("k2", "w")
    assert dist.FileStore(path).multi_get(["k", "k2"]) == [b"v", b"w"]


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(dist.DistStoreError, match="no folder"):
        dist.FileStore(str(tmp_path / "no" / "store"))


def test_workers_are_waited_for():
    master = dist.TCPStore("127.0.0.1", 0, is_master=True)
    with pytest.raises(dist.DistStoreError, match="1 of 3 processes"):
        dist.TCPStore("127.0.0.1", master.port, 3, timeout=seconds(0.2))
    master.close()


def test_the_secret(monkeypatch):
    monkeypatch.setenv("TAEDA_STORE_SECRET", "right")
    master = dist.TCPStore("127.0.0.1", 0, is_master=True)
    monkeypatch.setenv("TAEDA_STORE_SECRET", "wrong")
    with pytest.raises(dist.DistNetworkError, match="SECRET"):
        dist.TCPStore("127.0.0.1", master.port, timeout=seconds(2))
    master.set("k", "v")
    assert master.num_keys() == 1
    master.close()


def test_strangers_at_the_port_do_no_harm():
    """2,000 messages of noise, before and after the secret: the server serves, and has only what it was given."""
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


def test_a_server_that_ends_wakes_who_waits():
    master = dist.TCPStore("127.0.0.1", 0, is_master=True)
    client = master.clone()
    errors = []

    def wait():
        try:
            client.wait(["never"], seconds(30))
        except dist.DistError as error:
            errors.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    master.set("x", "y")
    master.close()
    thread.join(10)
    assert len(errors) == 1 and "broke" in str(errors[0])


def test_it_never_pickles():
    with pytest.raises(TypeError):
        dist.HashStore().set("k", object())
