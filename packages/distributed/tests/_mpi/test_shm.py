"""Room in /dev/shm is asked for before MPI starts, which would end the process by SIGBUS."""

from __future__ import annotations

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
