"""DTensors: their parts and wholes, what is refused, and how checkpoints take them."""

from __future__ import annotations

import copy
import pickle

import pytest
from rank_threads import on_threads

import taeda
import taeda.distributed as dist
import taeda.distributed.checkpoint as dcp
from taeda.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor

SHAPES = [(5, 3), (1, 4), (0, 2), (7,)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_parts_make_the_whole_that_rank_0_gave(shape, size):
    whole = taeda.arange(taeda.Size(shape).numel()).float().view(shape)

    def work(rank):
        mesh = dist.init_device_mesh("cpu", (size,))
        for placement in (*map(Shard, range(len(shape))), Shard(-1), Replicate()):
            mine = distribute_tensor(whole + rank, mesh, [placement])
            assert mine.shape == whole.shape and mine.device_mesh == mesh
            assert mine.full_tensor().tolist() == whole.tolist()
            cut = whole if not placement.is_shard() else None
            if cut is None:
                parts = whole.chunk(size, placement.dim)
                cut = parts[rank] if rank < len(parts) else None
            if cut is not None:
                assert mine.to_local().tolist() == cut.tolist()
            again = copy.deepcopy(mine)
            assert (
                again.to_local().data_ptr() != mine.to_local().data_ptr()
                or not again.to_local().numel()
            )

    on_threads(size, work)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_checkpoint_goes_from_any_cut_to_any_other(tmp_path, shape):
    whole = taeda.arange(taeda.Size(shape).numel()).double().view(shape)
    cuts = [*map(Shard, range(len(shape))), Replicate()]

    def save(rank, size, cut, folder):
        mesh = dist.init_device_mesh("cpu", (size,))
        dcp.save({"x": distribute_tensor(whole, mesh, [cut])}, checkpoint_id=folder)

    def load(rank, size, cut, folder):
        mesh = dist.init_device_mesh("cpu", (size,))
        made = {"x": distribute_tensor(taeda.zeros_like(whole), mesh, [cut])}
        dcp.load(made, checkpoint_id=folder)
        assert made["x"].full_tensor().tolist() == whole.tolist()

    for number, cut in enumerate(cuts):
        folder = tmp_path / str(number)
        on_threads(3, lambda rank, c=cut, f=folder: save(rank, 3, c, f))
        plain = {"x": taeda.zeros_like(whole)}
        dcp.load(plain, checkpoint_id=folder)
        assert plain["x"].tolist() == whole.tolist()
        for other in cuts:
            on_threads(2, lambda rank, c=other, f=folder: load(rank, 2, c, f))


def test_refusals():
    def work(rank):
        mesh = dist.init_device_mesh("cpu", (1,))
        x = distribute_tensor(taeda.ones(2, requires_grad=True), mesh, [Shard(0)])
        assert isinstance(x, DTensor) and x.requires_grad and "DTensor" in repr(x)
        assert x.full_tensor().requires_grad and x.to_local().requires_grad
        assert x.tolist() == [1, 1] and bool((x > 0).all()) and x.sum().item() == 2
        with pytest.raises(TypeError, match="not pickled"):
            pickle.dumps(x)
        with pytest.raises(TypeError, match="placement"):
            distribute_tensor(taeda.ones(2), mesh, ["0"])
        with pytest.raises(ValueError, match="dimensions"):
            distribute_tensor(taeda.ones(2), mesh, [Shard(1)])
        with pytest.raises(ValueError, match="2 placements"):
            distribute_tensor(taeda.ones(2), mesh, [Shard(0), Shard(0)])
        with pytest.raises(TypeError, match="takes a Tensor"):
            distribute_tensor([1], mesh, [Shard(0)])
        with pytest.raises(RuntimeError, match="leaf"):
            distribute_tensor(taeda.ones(2, requires_grad=True) * 2, mesh, [Shard(0)])
        with pytest.raises(RuntimeError, match="terms"):
            DTensor.from_local(taeda.ones(2), mesh, [Partial()]).__create_chunk_list__()

    on_threads(1, work)


def test_a_save_in_the_background_has_the_values_of_its_beginning(tmp_path):
    def work(rank):
        mesh = dist.init_device_mesh("cpu", (3,))
        x = distribute_tensor(taeda.arange(8.0, requires_grad=True), mesh, [Shard(0)])
        future = dcp.async_save({"x": x}, checkpoint_id=tmp_path)
        with taeda.no_grad():
            x.zero_()
        entry = future.result().state_dict_metadata["x"]
        dcp.load({"x": x}, checkpoint_id=tmp_path)
        return entry.properties.requires_grad, x.detach().full_tensor().tolist()

    assert on_threads(3, work) == [(True, list(range(8)))] * 3
