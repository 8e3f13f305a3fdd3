"""Single files, and back."""

from __future__ import annotations

import pytest
from rank_threads import on_threads

import taeda
import taeda.distributed as dist
import taeda.distributed.checkpoint as dcp
from taeda.distributed.checkpoint import CheckpointException
from taeda.distributed.checkpoint.format_utils import (
    BroadcastingTorchSaveReader,
    DynamicMetaLoadPlanner,
    _EmptyStateDictLoadPlanner,
    _load_state_dict,
    dcp_to_torch_save,
    torch_save_to_dcp,
)
from taeda.distributed.tensor import Shard, distribute_tensor

STATE = {
    "model": {"w": taeda.arange(12.0).view(4, 3), "b": taeda.arange(3)},
    "list": [1, taeda.ones(2), {"x": "y"}],
    "step": 7,
}


def same(a, b):
    if isinstance(b, taeda.Tensor):
        return taeda.equal(a, b)
    if isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[k], v) for k, v in b.items())
    if isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b


def test_a_folder_becomes_a_file_and_a_folder_again(tmp_path):
    dcp.save(STATE, checkpoint_id=tmp_path / "a")
    dcp_to_torch_save(tmp_path / "a", tmp_path / "one.pt")
    assert same(taeda.load(tmp_path / "one.pt"), STATE)
    torch_save_to_dcp(tmp_path / "one.pt", tmp_path / "b")
    dcp_to_torch_save(tmp_path / "b", tmp_path / "two.pt")
    assert same(taeda.load(tmp_path / "two.pt"), STATE)
    taeda.save([1], tmp_path / "list.pt")
    with pytest.raises(TypeError, match="holds a list"):
        torch_save_to_dcp(tmp_path / "list.pt", tmp_path / "c")


def test_a_file_is_read_once_and_cut_on_every_rank(tmp_path):
    taeda.save(STATE, tmp_path / "one.pt")

    def work(rank):
        mesh = dist.init_device_mesh("cpu", (3,))
        mine = distribute_tensor(taeda.zeros(4, 3), mesh, [Shard(0)])
        state = {"model": {"w": mine, "b": taeda.zeros(3, dtype=taeda.int64)}}
        ways = {
            "storage_reader": BroadcastingTorchSaveReader(),
            "planner": DynamicMetaLoadPlanner(),
        }
        dcp.load(state, checkpoint_id=tmp_path / "one.pt", **ways)
        assert taeda.equal(mine.full_tensor(), STATE["model"]["w"])
        assert taeda.equal(state["model"]["b"], STATE["model"]["b"])
        for wrong, words in (({"no": taeda.zeros(1)}, "no is not in"), ({"x": 3}, "only tensors")):
            with pytest.raises(CheckpointException, match=words):
                dcp.load(wrong, checkpoint_id=tmp_path / "one.pt", **ways)

    on_threads(3, work)


def test_empty_dict_is_filled_whole_or_by_names(tmp_path):
    dcp.save(STATE, checkpoint_id=tmp_path)

    def read(**options):
        state = {}
        reader = dcp.FileSystemReader(tmp_path)
        planner = _EmptyStateDictLoadPlanner(**options)
        _load_state_dict(state, storage_reader=reader, planner=planner, no_dist=True)
        return state

    assert same(read(), STATE)
    assert same(read(keys={"model"}), {"model": STATE["model"]})
    assert same(read(keys={"model.b", "step"}), {"model": {"b": STATE["model"]["b"]}, "step": 7})
    with pytest.raises(CheckpointException, match="an empty dict is wanted"):
        _load_state_dict(
            {"a": 1}, dcp.FileSystemReader(tmp_path), planner=_EmptyStateDictLoadPlanner()
        )
    with pytest.raises(ValueError, match="rank 0"):
        _load_state_dict({}, dcp.FileSystemReader(tmp_path), coordinator_rank=1)
