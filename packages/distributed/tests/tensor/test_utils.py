"""Shapes and places of parts are those that a distributed tensor has."""

from __future__ import annotations

import pytest
from rank_threads import on_threads

import taeda
import taeda.distributed as dist
from taeda.distributed._tensor.placement_types import DTensorSpec, TensorMeta
from taeda.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor
from taeda.distributed.tensor._utils import compute_local_shape_and_global_offset

WHOLE = taeda.arange(35.0).view(7, 5)


def test_parts_lie_where_they_are_said_to():
    def work(rank):
        mesh = dist.init_device_mesh("cpu", (2, 2))
        found = []
        for places in ((Shard(0), Shard(1)), (Shard(0), Shard(0)), (Replicate(), Shard(1))):
            part = distribute_tensor(WHOLE, mesh, places).to_local()
            shape, at = compute_local_shape_and_global_offset(WHOLE.shape, mesh, places)
            assert shape == tuple(part.shape)
            cut = WHOLE[tuple(slice(b, b + n) for b, n in zip(at, shape, strict=True))]
            found.append(taeda.equal(cut, part))
        return found

    assert on_threads(4, work) == [[True] * 3] * 4


def test_distributed_tensor_is_made_of_its_part_and_facts():
    def work(rank):
        mesh = dist.init_device_mesh("cpu", (2,))
        meta = TensorMeta(shape=WHOLE.shape, stride=WHOLE.stride(), dtype=WHOLE.dtype)
        spec = DTensorSpec(mesh=mesh, placements=[Shard(0)], tensor_meta=meta)
        part = WHOLE.chunk(2)[rank].clone()
        made = DTensor(local_tensor=part, spec=spec, requires_grad=True)
        assert made.requires_grad
        with pytest.raises(ValueError, match="strides"):
            DTensorSpec(mesh, [Shard(0)], meta._replace(stride=(1, 7)))
        return taeda.equal(made.detach().full_tensor(), WHOLE)

    assert on_threads(2, work) == [True, True]
