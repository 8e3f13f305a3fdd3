"""Room in /dev/shm is asked for before MPI starts, which would end the process by SIGBUS."""

from __future__ import annotations

import os
import resource
import subprocess
import sys

import pytest

import taeda.distributed as dist
from taeda.distributed._mpi import shm


def test_too_little_room_is_told_with_both_numbers():
    with pytest.raises(dist.DistBackendError, match=r"0\.1 MiB free.*4\.3 MiB.*--shm-size"):
        shm.check_room(64 << 10, 4)


def test_enough_room_and_no_folder_are_accepted():
    shm.check_room(4 * shm.FOR_A_RANK, 4)
    shm.check_room(None, 4)
    shm.check_room(0, 1)


def test_a_system_without_the_folder_has_no_number(monkeypatch, tmp_path):
    assert shm.free_bytes() is None or shm.free_bytes() >= 0
    monkeypatch.setattr(shm, "FOLDER", str(tmp_path / "absent"))
    assert shm.free_bytes() is None


@pytest.mark.parametrize(("ranks", "needed"), [(2, "4.1"), (8, "8.6")])
def test_files_that_may_not_grow_are_told_with_both_numbers(monkeypatch, ranks, needed):
    limit = [8 << 10]
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (limit[0], resource.RLIM_INFINITY))
    with pytest.raises(dist.DistBackendError, match=rf"files of 0\.0 MiB.*ulimit -f.*{needed} MiB"):
        shm.check_file_size(ranks)
    shm.check_file_size(1)
    for limit[0] in (9 << 20, resource.RLIM_INFINITY):
        shm.check_file_size(ranks)


PROGRAM = """
import taeda.distributed as dist
try:
    dist.init_process_group()
except dist.DistBackendError as error:
    print("refused", "RLIMIT_FSIZE" in str(error), flush=True)
else:
    print("started", flush=True)
"""


@pytest.mark.parametrize(("blocks", "said"), [(16, "refused True"), (8400, "started")])
def test_ranks_whose_files_may_not_grow_raise_and_others_start(tmp_path, blocks, said):
    """A block of sh has 512 bytes. Bytecode that did not fit would stay cut off in Python's cache."""
    (tmp_path / "program.py").write_text(PROGRAM)
    launched = [
        sys.executable,
        "-m",
        "taeda.distributed.run",
        "--nproc-per-node",
        "2",
        "program.py",
    ]
    done = subprocess.run(
        ["sh", "-c", f'ulimit -f {blocks}; exec "$@"', "sh", *launched],
        cwd=tmp_path,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stdout.count(said) == 2, done.stdout + done.stderr
