"""Folders of safetensors files."""

from __future__ import annotations

import json

import pytest
from rank_threads import on_threads

import taeda
import taeda.distributed as dist
import taeda.distributed.checkpoint as dcp
from taeda.distributed.checkpoint import CheckpointException
from taeda.distributed.tensor import Shard, distribute_tensor

STATE = {
    "model": {"w": taeda.arange(12.0).view(4, 3), "b": taeda.arange(3)},
    "list": [1, taeda.ones(2), {"x": "y"}],
    "step": 7,
}


@pytest.mark.parametrize("size", [1, 2])
def test_safetensors_of_huggingface(tmp_path, size):
    def work(rank):
        writer = dcp.HuggingFaceStorageWriter(tmp_path)
        dcp.save(STATE["model"], storage_writer=writer)
        mesh = dist.init_device_mesh("cpu", (size,))
        mine = distribute_tensor(taeda.zeros(4, 3), mesh, [Shard(1)])
        state = {"w": mine, "b": taeda.zeros(3, dtype=taeda.int64)}
        dcp.load(state, storage_reader=dcp.HuggingFaceStorageReader(tmp_path))
        assert taeda.equal(mine.full_tensor(), STATE["model"]["w"])
        assert taeda.equal(state["b"], STATE["model"]["b"])
        if size == 2:
            with pytest.raises(CheckpointException, match="is a shard"):
                dcp.save({"w": mine}, storage_writer=dcp.HuggingFaceStorageWriter(tmp_path))
        with pytest.raises(CheckpointException, match="is no tensor"):
            dcp.save({"w": 3}, storage_writer=dcp.HuggingFaceStorageWriter(tmp_path))

    on_threads(size, work)
    if size == 2:
        told = json.loads((tmp_path / "model.safetensors.index.json").read_text())
        assert sorted(told["weight_map"]) == ["b", "w"] and told["metadata"]["total_size"] == 72
    outside = tmp_path / "model.safetensors.index.json"
    outside.write_text(json.dumps({"weight_map": {"w": "../x.safetensors"}}))
    with pytest.raises(CheckpointException, match="outside of the folder"):
        dcp.load({"w": taeda.zeros(4, 3)}, storage_reader=dcp.HuggingFaceStorageReader(tmp_path))
