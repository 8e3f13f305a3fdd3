"""Where a tensor lies: boxes cover the whole once, in any order of cuts."""

from __future__ import annotations

import itertools

import pytest
from rank_threads import on_threads

import taeda
import taeda.distributed as dist
from taeda.distributed.tensor import Replicate, Shard, distribute_tensor
from taeda.distributed.tensor._spec import Spec


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
@pytest.mark.parametrize("shape", [(5, 7), (4, 4), (1, 2), (0, 3)])
def test_boxes_cover_the_whole_once(shape, order):
    def work(rank):
        mesh = dist.init_device_mesh("cpu", (2, 3))
        for places in itertools.product([Shard(0), Shard(1)], repeat=2):
            spec = Spec.of(mesh, places, shape, order)
            seen = taeda.zeros(shape)
            for place in itertools.product(range(2), range(3)):
                offsets, sizes = spec.box_at(place)
                seen[tuple(slice(b, b + n) for b, n in zip(offsets, sizes, strict=True))] += 1
            assert (seen == 1).all()
            assert Spec.of(mesh, places, shape, order) is spec
        assert Spec.of(mesh, [Shard(0), Replicate()], shape, order).order == (0, 1)
        return Spec.of(mesh, [Shard(0), Shard(0)], (6, 1), order).box

    found = on_threads(6, work)
    assert sorted(box[0][0] for box in found) == list(range(6))
    assert [box[0][0] for box in found] == (
        [0, 1, 2, 3, 4, 5] if order == (0, 1) else [0, 2, 4, 1, 3, 5]
    )


def test_ways_to_lie_that_no_tensor_has_are_dropped_with_their_plans():
    def work(rank):
        mesh = dist.init_device_mesh("cpu", (2,))
        mesh._most_specs = 20
        kept = distribute_tensor(taeda.ones(4, 2), mesh, [Shard(0)])
        generator = taeda.Generator().manual_seed(0)
        most = 0
        for length in [*range(2, 90), *range(2, 90)]:
            x = taeda.randn(length, 2, generator=generator)
            parts = distribute_tensor(x, mesh, [Shard(0)])
            assert taeda.equal((parts * 2 + 1).full_tensor(), x * 2 + 1)
            assert kept.sum(0).full_tensor().tolist() == [4, 4]
            mesh._most_specs = 20
            most = max(most, len(mesh._specs))
        assert kept._spec is kept._spec.of(mesh, [Shard(0)], (4, 2))
        return most

    assert all(most <= 24 for most in on_threads(2, work))
