"""From an address to a store, a rank and a world size."""

from __future__ import annotations

import importlib
from datetime import timedelta

import pytest

import taeda.distributed as dist

# the package has a function of the name
module = importlib.import_module("taeda.distributed.rendezvous")

VARIABLES = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_USE_AGENT_STORE",
             "TAEDA_ELASTIC_USE_AGENT_STORE", "TORCH_ELASTIC_USE_AGENT_STORE")  # fmt: skip


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


def meet(url, *args, **words):
    return next(module.rendezvous(url, *args, **words))


def test_a_file(tmp_path):
    store, rank, size = meet(
        f"file://{tmp_path}/x?rank=1&world_size=2", timeout=timedelta(seconds=7)
    )
    assert isinstance(store, dist.FileStore) and (rank, size) == (1, 2)
    assert store.timeout == timedelta(seconds=7)
    store, rank, size = meet(f"file://{tmp_path}/y?rank=1&world_size=2", 0, 3)
    assert (rank, size) == (0, 3)  # what is given goes before what the address says


def test_an_address():
    store, rank, size = meet("tcp://127.0.0.1:0", 0, 1)
    store.set("k", "v")
    assert isinstance(store, dist.TCPStore) and (rank, size) == (0, 1)
    store.close()


def test_the_environment(monkeypatch):
    for name, value in zip(VARIABLES, ("0", "1", "127.0.0.1", "0"), strict=False):
        monkeypatch.setenv(name, value)
    store, rank, size = meet("env://")
    assert (rank, size) == (0, 1)
    store.close()


def test_a_store_that_the_launcher_serves(monkeypatch):
    served = dist.TCPStore("127.0.0.1", 0, is_master=True)
    monkeypatch.setenv("TORCHELASTIC_USE_AGENT_STORE", "True")
    monkeypatch.setenv("TAEDA_ELASTIC_ROUND", "3")
    store, *_ = meet(f"tcp://127.0.0.1:{served.port}", 0, 1)
    store.set("k", "v")
    assert served.get("/worker/round_3/attempt_0/k") == b"v"
    store.underlying_store.close()
    served.close()


@pytest.mark.parametrize(
    ("url", "arguments", "error", "words"),
    [
        (3, (), RuntimeError, "init_method is a str"),
        ("smoke://x", (), RuntimeError, "there are env://, tcp://, file://"),
        ("tcp://127.0.0.1", (0, 1), ValueError, "needs an address and a port"),
        ("tcp://127.0.0.1:1", (0,), ValueError, "world_size is not known.*add world_size="),
        ("tcp://127.0.0.1:1?rank=x", (), ValueError, "rank is a number, not 'x'"),
        ("tcp://127.0.0.1:1", (2, 2), ValueError, "rank 2 is outside of a world of 2"),
        ("tcp://127.0.0.1:1", (0, 0), ValueError, "world_size is at least 1"),
        ("file://", (0, 1), ValueError, "whole path"),
        ("file://host/x", (0, 1), ValueError, "whole path"),
        ("env://", (), ValueError, "set the environment variable WORLD_SIZE"),
        ("env://", (0, 2), ValueError, "env:// needs the environment variable MASTER_ADDR"),
    ],
)
def test_refusals(url, arguments, error, words):
    with pytest.raises(error, match=words):
        meet(url, *arguments)


def test_a_scheme_of_ones_own(monkeypatch):
    monkeypatch.setattr(module, "_handlers", {**module._handlers})

    def mine(url, timeout):
        yield url, timeout, 0

    module.register_rendezvous_handler("mine", mine)
    assert meet("mine://x?a=b", 2) == ("mine://x?a=b&rank=2", module.STORE_TIMEOUT, 0)
    with pytest.raises(RuntimeError, match="mine:// has a handler already"):
        module.register_rendezvous_handler("mine", mine)
