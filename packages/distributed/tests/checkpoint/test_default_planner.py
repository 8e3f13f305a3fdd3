"""The planners without processes: any cut read by any other, and who writes what several hold."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import pytest

import taeda
from taeda.distributed.checkpoint import ChunkStorageMetadata, DefaultSavePlanner
from taeda.distributed.checkpoint.default_planner import _reads
from taeda.distributed.checkpoint.metadata import TensorProperties, TensorStorageMetadata

SHAPE = (5, 4, 3)


def boxes(parts):
    """The boxes of a mesh: so many parts along each dimension, uneven ones and empty ones too."""
    spans = []
    for size, count in zip(SHAPE, parts, strict=True):
        each = -(-size // count)
        begins = [min(i * each, size) for i in range(count)]
        spans.append([(begin, min(each, size - begin)) for begin in begins])
    for box in itertools.product(*spans):
        offsets, sizes = zip(*box, strict=True)
        yield ChunkStorageMetadata(taeda.Size(offsets), taeda.Size(sizes))


def cut(tensor, offsets, sizes):
    for dim, (offset, size) in enumerate(zip(offsets, sizes, strict=True)):
        tensor = tensor.narrow(dim, offset, size)
    return tensor


@pytest.mark.parametrize("stored", [(1, 1, 1), (3, 1, 1), (1, 3, 2), (4, 1, 2)])
@pytest.mark.parametrize("wanted", [(1, 1, 1), (2, 1, 1), (7, 1, 1), (2, 3, 1)])
def test_reads_fill_each_wanted_box_once(stored, wanted):
    whole = taeda.arange(60).view(SHAPE)
    kept = {
        tuple(b.offsets): cut(whole, b.offsets, b.sizes) for b in boxes(stored) if 0 not in b.sizes
    }
    chunks = [b for b in boxes(stored) if 0 not in b.sizes]
    entry = TensorStorageMetadata(TensorProperties(taeda.int64), taeda.Size(SHAPE), chunks)
    for box in boxes(wanted):
        holder = SimpleNamespace(__create_chunk_list__=lambda box=box: [box])
        made, count = taeda.full(tuple(box.sizes), -1), 0
        for item in _reads("x", holder, entry):
            source = cut(kept[tuple(item.storage_index.offset)], item.storage_offsets, item.lengths)
            cut(made, item.dest_offsets, item.lengths).copy_(source)
            count += item.lengths.numel()
        assert (
            made.tolist() == cut(whole, box.offsets, box.sizes).tolist() and count == made.numel()
        )


def plans_of(states, **options):
    planners = [DefaultSavePlanner(**options) for _ in states]
    for planner, state in zip(planners, states, strict=True):
        planner.set_up_planner(state)
    plans = [planner.create_local_plan() for planner in planners]
    return planners[0].create_global_plan(plans)


def test_what_several_hold_is_shared_out_by_bytes():
    held = {str(n): taeda.ones(n) for n in (8, 4, 3, 1)}
    plans, metadata = plans_of([{**held, "own": taeda.ones(6)}, held])
    assert sorted(metadata.state_dict_metadata) == ["1", "3", "4", "8", "own"]
    sizes = [sum(item.tensor_storage_size() for item in plan.items) for plan in plans]
    assert sum(sizes) == 4 * 22 and max(sizes) - min(sizes) <= 8
    plans, _ = plans_of([held, held], dedup_save_to_lowest_rank=True)
    assert [len(plan.items) for plan in plans] == [4, 0]


def test_a_dict_may_stay_as_it_is():
    planner = DefaultSavePlanner(flatten_state_dict=False)
    planner.set_up_planner({"a": {"b": 1}})
    assert [item.index.fqn for item in planner.create_local_plan().items] == ["a"]


def test_a_tensor_made_of_others_is_refused():
    class Wrapped(taeda.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            raise AssertionError("asked for an operator")

    value = taeda.Tensor._make_wrapper_subclass(Wrapped, (2,), dtype=taeda.float32)
    with pytest.raises(TypeError, match="x is a Wrapped, which is made of other tensors"):
        plans_of([{"x": value}])


def test_ranks_that_do_not_agree():
    with pytest.raises(ValueError, match="a tensor on one rank and an object on another"):
        plans_of([{"x": 1}, {"x": taeda.ones(1)}])
    with pytest.raises(ValueError, match="do not agree about x"):
        plans_of([{"x": taeda.ones(1)}, {"x": taeda.ones(1).double()}])
