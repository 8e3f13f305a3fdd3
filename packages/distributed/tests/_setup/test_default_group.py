"""The default group: who may make it, how processes meet, how it ends."""

from __future__ import annotations

from datetime import timedelta

import pytest
from ranks import all_well, run_ranks

import taeda.distributed as dist


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"backend": "smoke"}, ValueError, "unknown backend"),
        ({"backend": 3}, ValueError, "named by a str"),
        ({"backend": "cpu:gloo,cuda"}, ValueError, "cpu:gloo,cuda:nccl"),
        ({"backend": "cuda:gloo"}, ValueError, "carries tensors of the cpu only"),
        ({"backend": "nccl"}, dist.DistBackendError, "NCCL's library|sees none"),
        ({"backend": "fake", "timeout": timedelta(0)}, ValueError, "longer than nothing"),
        ({"backend": "fake", "timeout": 3j}, TypeError, "timedelta"),
        ({"backend": "fake", "store": dist.HashStore(), "init_method": "env://"}, ValueError, "not both"),
        ({"backend": "fake", "store": dist.HashStore()}, ValueError, "must be given"),
        ({"backend": "fake", "store": {}, "rank": 0, "world_size": 1}, TypeError, "Store"),
        ({"backend": "fake", "store": dist.HashStore(), "rank": 2, "world_size": 2}, ValueError, "outside"),
        ({"backend": "fake", "init_method": "smoke://x"}, RuntimeError, "no rendezvous"),
        ({"backend": "fake", "init_method": "tcp://127.0.0.1", "rank": 0, "world_size": 1},
            ValueError, "port"),
        ({"backend": "fake", "init_method": "file://", "rank": 0, "world_size": 1}, ValueError, "path"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_refused(arguments, error, words):
    with pytest.raises(error, match=words):
        dist.init_process_group(**arguments)
    assert not dist.is_initialized()


@pytest.mark.parametrize("missing", ["RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"])
def test_env_names_the_variable_that_is_missing(monkeypatch, missing):
    for name, value in {
        "RANK": "0",
        "WORLD_SIZE": "1",
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": "0",
    }.items():
        monkeypatch.delenv(name, raising=False)
        if name != missing:
            monkeypatch.setenv(name, value)
    with pytest.raises(ValueError, match=missing):
        dist.init_process_group("fake")


def test_a_taken_port_and_a_silent_address(monkeypatch):
    first = dist.TCPStore("127.0.0.1", 0, is_master=True)
    limit = timedelta(seconds=0.5)
    with pytest.raises(dist.DistNetworkError, match="cannot serve a store"):
        dist.TCPStore("127.0.0.1", first.port, is_master=True)
    port = first.port
    first.close()
    with pytest.raises(dist.DistNetworkError, match="no store answers"):
        dist.TCPStore("127.0.0.1", port, timeout=limit)


def test_there_is_one(fake):
    with pytest.raises(ValueError, match="already"):
        dist.init_process_group("fake", store=dist.HashStore(), rank=0, world_size=1)
    dist.destroy_process_group()
    assert not dist.is_initialized()
    dist.init_process_group("fake", store=dist.HashStore(), rank=0, world_size=1)


WAYS = {
    "env": 'dist.init_process_group("gloo", timeout=seconds(20))',
    "tcp": 'dist.init_process_group("mpi", f"tcp://127.0.0.1:{os.environ[\'MASTER_PORT\']}", '
    "rank=rank, world_size=size)",
    "file": 'dist.init_process_group("cpu:gloo", "file://" + os.environ["FILE"], rank=rank, world_size=size)',
    "store": 'dist.init_process_group(store=dist.FileStore(os.environ["FILE"], size), rank=rank, '
    "world_size=size)",
}


@pytest.mark.parametrize("way", WAYS)
def test_processes_meet(mpi, tmp_path, way):
    code = (
        WAYS[way]
        + """
name = {"tcp": "mpi"}.get(os.environ["WAY"], "gloo")
assert dist.get_backend() == name, dist.get_backend()
assert (dist.get_rank(), dist.get_world_size()) == (rank, size)
x = taeda.tensor([rank + 1.0])
dist.all_reduce(x)
assert x.item() == 3
dist.destroy_process_group()
assert not dist.is_initialized()
"""
    )
    all_well(run_ranks(code, 2, FILE=str(tmp_path / "new"), WAY=way))


def test_a_group_again_after_destroy(mpi):
    code = """
for turn in range(3):
    dist.init_process_group("gloo")
    x = taeda.tensor([rank + turn])
    dist.all_reduce(x)
    assert x.item() == 1 + 2 * turn
    dist.destroy_process_group()
"""
    all_well(run_ranks(code, 2))


def test_nothing_is_left_in_shared_memory(mpi):
    import os

    before = set(os.listdir("/dev/shm"))
    code = """
dist.init_process_group("gloo")
x = taeda.ones(1 << 20)
dist.all_reduce(x)
os._exit(0)
"""
    all_well(run_ranks(code, 2))
    left = {
        name for name in set(os.listdir("/dev/shm")) - before if "mpich" in name or "taeda" in name
    }
    assert not left
