"""From any way to lie to any other, over one and two dimensions of a mesh, with gradients."""

from __future__ import annotations

import itertools

import pytest
from rank_threads import on_threads

import taeda
import taeda.distributed as dist
from taeda.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor
from taeda.distributed.tensor._redistribute import redistributed
from taeda.distributed.tensor._spec import Spec
from taeda.distributed.tensor.debug import CommDebugMode

WAYS = [Replicate(), Shard(0), Shard(1), Partial(), Partial("max"), Partial("avg")]


@pytest.mark.parametrize("mesh", [(2, 2), (2, 3), (1, 3)])
@pytest.mark.parametrize("shape", [(5, 7), (4, 6), (1, 3), (0, 2)])
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_any_way_to_any_other(mesh, shape, order):
    whole = taeda.arange(float(taeda.Size(shape).numel())).view(shape)
    pairs = list(itertools.product(WAYS[:4], repeat=2))

    def work(rank):
        grid = dist.init_device_mesh("cpu", mesh)
        for source, target in itertools.product(pairs, pairs):
            if any(isinstance(b, Partial) and a != b for a, b in zip(source, target, strict=True)):
                continue
            a, b = Spec.of(grid, source, shape, order), Spec.of(grid, target, shape)
            mine = redistributed(whole.clone(), a.whole(), a)
            assert tuple(mine.shape) == a.local_shape
            made = redistributed(mine, a, b)
            assert tuple(made.shape) == b.local_shape, (source, target)
            last = redistributed(made, b, b.whole())
            assert taeda.equal(last, whole), (source, target)

    on_threads(mesh[0] * mesh[1], work)


@pytest.mark.parametrize("op", ["sum", "avg", "product", "max", "min"])
def test_terms(op):
    def work(rank):
        mesh = dist.init_device_mesh("cpu", (3,))
        x = DTensor.from_local(taeda.tensor([1.0 + rank, 4.0 - rank]), mesh, [Partial(op)])
        return x.full_tensor().tolist(), x.redistribute(
            placements=[Shard(0)]
        ).full_tensor().tolist()

    wanted = {"sum": [6, 9], "avg": [2, 3], "product": [6, 24], "max": [3, 4], "min": [1, 2]}[op]
    assert on_threads(3, work) == [(wanted, wanted)] * 3


def test_one_collective_each():
    def work(rank):
        mesh = dist.init_device_mesh("cpu", (2,))
        counts = []
        for source, target in (
            (Shard(0), Replicate()), (Shard(0), Shard(1)), (Replicate(), Shard(0)),
            (Partial(), Replicate()), (Partial(), Shard(0)),
        ):  # fmt: skip
            x = DTensor.from_local(taeda.ones(4, 4), mesh, [source])
            with CommDebugMode() as mode:
                x.redistribute(placements=[target])
            counts.append(list(mode.get_comm_counts().items()))
        return counts

    assert on_threads(2, work)[0] == [
        [("all_gather_into_tensor", 1)], [("all_to_all", 1)], [], [("all_reduce", 1)],
        [("reduce_scatter_tensor", 1)],
    ]  # fmt: skip


def test_refusals():
    def work(rank):
        mesh = dist.init_device_mesh("cpu", (1,))
        x = distribute_tensor(taeda.ones(2, 2), mesh, [Shard(0)])
        with pytest.raises(RuntimeError, match="needs placements"):
            x.redistribute()
        with pytest.raises(ValueError, match="2 placements"):
            x.redistribute(placements=[Shard(0), Shard(0)])
        with pytest.raises(RuntimeError, match="only operators and from_local"):
            x.redistribute(placements=[Partial()])
        with pytest.raises(NotImplementedError, match="stays on its mesh"):
            x.redistribute(dist.init_device_mesh("cpu", (1, 1)), [Shard(0), Shard(0)])
        with pytest.raises(ValueError, match="this rank's part has the shape"):
            DTensor.from_local(taeda.ones(3), mesh, [Shard(0)], shape=(4,))
        with pytest.raises(TypeError, match="plain Tensor"):
            DTensor.from_local(x, mesh)
        with pytest.raises(ValueError, match="terms"):
            distribute_tensor(taeda.ones(2), mesh, [Partial()])
        with pytest.raises(ValueError, match="one of sum"):
            Partial("mean")
        with pytest.raises(TypeError, match="number of a dimension"):
            Shard("0")

    on_threads(1, work)


def test_replicas_are_checked():
    def work(rank):
        mesh = dist.init_device_mesh("cpu", (2,))
        x = DTensor.from_local(taeda.full((2,), float(rank)), mesh, [Replicate()], run_check=True)
        with pytest.raises(RuntimeError, match="different"):
            DTensor.from_local(taeda.ones(2 + rank), mesh, [Replicate()], run_check=True)
        return x.to_local().tolist()

    assert on_threads(2, work) == [[0, 0], [0, 0]]
