"""What can be had is said before there is a group, and nothing starts by asking."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

import taeda.distributed as dist


def alone(code: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", textwrap.dedent(code)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


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
    "first",
    ["import taeda.nn.parallel", "from taeda.nn.parallel import DataParallel",
     "import taeda.nn as nn; nn.parallel",
     "import taeda; taeda.nn.DataParallel", "import taeda.distributed.nn.functional", "import taeda.futures"],
)  # fmt: skip
def test_every_first_import_works(first):
    """`taeda.nn` is shared with another distribution, and its own code may not have run yet."""
    done = alone(first)
    assert done.returncode == 0, done.stderr


def test_names_of_backends():
    assert dist.is_backend_available("gloo") == dist.is_gloo_available() == dist.is_mpi_available()
    assert not dist.is_ucc_available() and not dist.is_xccl_available()
    assert not dist.is_backend_available("smoke")


def test_the_default_for_a_device():
    assert dist.get_default_backend_for_device("cpu") == "gloo"
    assert dist.get_default_backend_for_device("cuda:0") == "nccl"
    with pytest.raises(ValueError, match="meta"):
        dist.get_default_backend_for_device("meta")


def test_a_launcher_is_seen(monkeypatch):
    monkeypatch.delenv("TORCHELASTIC_RUN_ID", raising=False)
    assert not dist.is_torchelastic_launched()
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "7")
    assert dist.is_torchelastic_launched()
