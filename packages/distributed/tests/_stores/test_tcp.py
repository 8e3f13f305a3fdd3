"""Clients of a TCPStore."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest

import taeda.distributed as dist


def seconds(n: float) -> timedelta:
    return timedelta(seconds=n)


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
