"""Groups: what answers before there is one, who may make one, how they end."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from datetime import timedelta

import pytest
from ranks import all_well, run_ranks

import taeda
import taeda.distributed as dist


def alone(code: str, **env: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", textwrap.dedent(code)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_before_a_group():
    assert dist.is_available() and not dist.is_initialized()
    for ask in (
        dist.get_rank,
        dist.get_world_size,
        dist.get_backend,
        dist.barrier,
        dist.destroy_process_group,
    ):
        with pytest.raises(ValueError, match="init_process_group"):
            ask()
    with pytest.raises(ValueError, match="init_process_group"):
        dist.all_reduce(taeda.ones(1))


def test_importing_starts_nothing():
    done = alone("""
        import sys
        import taeda.distributed as dist
        from taeda.nn.parallel import DistributedDataParallel
        from taeda import nn
        assert nn.DataParallel(nn.Identity())(3) == 3
        assert not any(name.startswith("mpi4py") for name in sys.modules)
    """)
    assert done.returncode == 0, done.stderr


def test_a_missing_engine_is_named_with_its_extra():
    done = alone("""
        import importlib.util
        find = importlib.util.find_spec
        importlib.util.find_spec = lambda name, *rest: None if name == "mpi4py" else find(name, *rest)
        import taeda.distributed as dist
        assert not dist.is_mpi_available()
        try:
            dist.init_process_group("gloo", "tcp://127.0.0.1:1", rank=0, world_size=2)
        except dist.DistBackendError as error:
            assert "pip install mpi4py mpich" in str(error), error
        else:
            raise SystemExit("a group was made")
    """)
    assert done.returncode == 0, done.stderr + done.stdout


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


def test_the_fake_group():
    dist.init_process_group("fake", store=dist.HashStore(), rank=1, world_size=4)
    try:
        assert (dist.get_rank(), dist.get_world_size(), dist.get_backend()) == (1, 4, "fake")
        with pytest.raises(ValueError, match="already"):
            dist.init_process_group("fake", store=dist.HashStore(), rank=0, world_size=1)
        assert dist.new_group([0, 2]) is dist.GroupMember.NON_GROUP_MEMBER
        assert dist.get_rank(dist.GroupMember.NON_GROUP_MEMBER) == -1
        pair = dist.new_group([3, 1])
        assert dist.get_process_group_ranks(pair) == [1, 3]
        assert dist.get_group_rank(pair, 3) == 1 and dist.get_global_rank(pair, 0) == 1
        with pytest.raises(ValueError, match="not one of"):
            dist.get_group_rank(pair, 0)
        with pytest.raises(ValueError, match="outside"):
            dist.new_group([7])
        with pytest.raises(ValueError, match="twice"):
            dist.new_group([1, 1])
    finally:
        dist.destroy_process_group()
    assert not dist.is_initialized()


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


@pytest.mark.parametrize(
    "first",
    ["import taeda.nn.parallel", "from taeda.nn.parallel import DataParallel",
     "import taeda.nn as nn; nn.parallel",
     "import taeda; taeda.nn.DataParallel", "import taeda.distributed.nn.functional", "import taeda.futures"],
)  # fmt: skip
def test_every_first_import_works(first):
    """`taeda.nn` is shared with another distribution, and its own code may not have run yet."""
    done = alone(first)
    assert done.returncode == 0, done.stderr
