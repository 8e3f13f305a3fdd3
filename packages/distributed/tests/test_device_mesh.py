"""Meshes: lines, slices, flattening, groups that exist, refusals."""

from __future__ import annotations

import pytest
from ranks import all_well, run_ranks

import taeda
import taeda.distributed as dist
from taeda.distributed.device_mesh import DeviceMesh, init_device_mesh

MESH = """
from taeda.distributed.device_mesh import DeviceMesh, init_device_mesh
mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
assert dist.is_initialized() and mesh.shape == (2, 2) and mesh.size() == 4 and mesh.size(0) == 2
assert mesh.get_coordinate() == [rank // 2, rank % 2] and mesh.get_local_rank("tp") == rank % 2
x = taeda.tensor([float(rank)])
dist.all_reduce(x, group=mesh.get_group("tp"))
assert x.item() == (1 if rank < 2 else 5), x
x = taeda.tensor([float(rank)])
dist.all_reduce(x, group=mesh["dp"].get_group())
assert x.item() == (2 if rank % 2 == 0 else 4)
assert mesh["dp", "tp"] is mesh and mesh["tp", "dp"].mesh.tolist() == [[0, 2], [1, 3]]
assert mesh["tp"].mesh.tolist() == [rank // 2 * 2, rank // 2 * 2 + 1]
flat = mesh._flatten("all")
assert flat.shape == (4,) and mesh["all"] is flat
x = taeda.ones(1)
dist.all_reduce(x, group=flat.get_group())
assert x.item() == 4
again = DeviceMesh.from_group(mesh.get_group("tp"), "cpu")
assert again.mesh.tolist() == mesh["tp"].mesh.tolist()
both = DeviceMesh.from_group(mesh.get_all_groups(), "cpu", mesh.mesh, mesh_dim_names=("a", "b"))
assert both["b"].get_group() is mesh.get_group(1)
half = DeviceMesh("cpu", [0, 3])
assert half.get_coordinate() == ([0] if rank == 0 else [1] if rank == 3 else None)
from taeda import nn
from taeda.nn.parallel import DistributedDataParallel
model = DistributedDataParallel(nn.Linear(2, 2), device_mesh=mesh["dp"])
model(taeda.full((1, 2), float(rank))).sum().backward()
assert model.module.weight.grad[0, 0].item() == (1 if rank % 2 == 0 else 2)
dist.barrier()
"""


def test_a_mesh_of_four(mpi):
    all_well(run_ranks(MESH, 4))


@pytest.fixture
def fake():
    dist.init_process_group("fake", store=dist.HashStore(), rank=1, world_size=4)
    yield
    dist.destroy_process_group()


def test_refusals(fake):
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("a", "b"))
    with pytest.raises(KeyError, match="c"):
        mesh["c"]
    with pytest.raises(RuntimeError, match="names"):
        init_device_mesh("cpu", (4,))["a"]
    with pytest.raises(RuntimeError, match="needs 8"):
        init_device_mesh("cpu", (8,))
    with pytest.raises(RuntimeError, match="twice"):
        init_device_mesh("cpu", (2, 2), mesh_dim_names=("a", "a"))
    with pytest.raises(RuntimeError, match="3 names"):
        init_device_mesh("cpu", (2, 2), mesh_dim_names=("a", "b", "c"))
    with pytest.raises(RuntimeError, match="number"):
        init_device_mesh("cpu:0", (4,))
    with pytest.raises(RuntimeError, match="twice"):
        DeviceMesh("cpu", [0, 0])
    with pytest.raises(RuntimeError, match="outside"):
        DeviceMesh("cpu", [0, 9])
    with pytest.raises(RuntimeError, match="say which"):
        mesh.get_group()
    with pytest.raises(RuntimeError, match="is not in"):
        DeviceMesh("cpu", [0, 2]).get_group()
    with pytest.raises(ValueError, match="at least one"):
        DeviceMesh.from_group([], "cpu", taeda.zeros(1))


def test_equality_and_context(fake):
    one, two = (init_device_mesh("cpu", (4,)) for _ in range(2))
    assert one == two and hash(one) == hash(two) and one != DeviceMesh("cpu", [0, 1])
    with one as inside:
        assert inside is one
