"""Stores: the same promises from each kind."""

from __future__ import annotations

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
    for amount in ("1", 1.5, None):
        with pytest.raises(TypeError, match="adds a whole number, not"):
            store.add("n", amount)
    assert store.get("n") == b"4" and store.add("n", True) == 5


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
