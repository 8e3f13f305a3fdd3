"""Who is in a group, and under which number."""

from __future__ import annotations

import pytest

import taeda
import taeda.distributed as dist


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


def test_numbers_of_the_default_group(fake):
    assert dist.is_initialized() and dist.get_pg_count() == 1
    assert (dist.get_rank(), dist.get_world_size(), dist.get_backend()) == (1, 4, "fake")
    assert dist.get_process_group_ranks(None) == [0, 1, 2, 3]
    assert "fake" in dist.get_backend_config()


def test_numbers_within_another(fake):
    assert dist.get_rank(dist.GroupMember.NON_GROUP_MEMBER) == -1
    pair = dist.new_group([3, 1])
    assert dist.get_process_group_ranks(pair) == [1, 3] and dist.get_world_size(pair) == 2
    assert dist.get_group_rank(pair, 3) == 1 and dist.get_global_rank(pair, 0) == 1
    assert dist.get_rank(pair) == 0 and dist.get_pg_count() == 2
    with pytest.raises(ValueError, match="not one of"):
        dist.get_group_rank(pair, 0)
    with pytest.raises(ValueError, match="group_rank 5 is outside of a group of 2"):
        dist.get_global_rank(pair, 5)


def test_the_number_on_a_machine(monkeypatch):
    for name in ("LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"):
        monkeypatch.delenv(name, raising=False)
    assert dist.get_node_local_rank(fallback_rank=3) == 3
    monkeypatch.setenv("LOCAL_RANK", "2")
    assert dist.get_node_local_rank() == 2
