"""Tests of real processes need the engine, which is the extra `mpi`; they say so where it is missing."""

from __future__ import annotations

import importlib.util
import itertools
import socket

import pytest

import taeda.distributed as dist
from taeda.distributed._wires.wires import Wires


@pytest.fixture(scope="session")
def mpi():
    """The engine is installed, or the test is skipped with the reason."""
    if importlib.util.find_spec("mpi4py") is None:
        pytest.skip("the engine is not installed: pip install mpi4py mpich")


@pytest.fixture
def meshed():
    """`meshed(count)`: the wires of so many ranks, over pairs of sockets."""
    made: list[Wires] = []

    def mesh(count: int) -> list[Wires]:
        sockets: list[dict[int, socket.socket]] = [{} for _ in range(count)]
        for a, b in itertools.combinations(range(count), 2):
            sockets[a][b], sockets[b][a] = socket.socketpair()
        wires = [Wires(rank, of) for rank, of in enumerate(sockets)]
        made.extend(wires)
        return wires

    yield mesh
    for one in made:
        one.close()


@pytest.fixture
def fake():
    """Rank 1 of a group of 4, whose other members do nothing."""
    dist.init_process_group("fake", store=dist.HashStore(), rank=1, world_size=4)
    yield
    dist.destroy_process_group()
