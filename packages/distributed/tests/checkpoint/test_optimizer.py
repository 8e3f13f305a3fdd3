"""States of optimizers come back in the parts of their parameters."""

from __future__ import annotations

import pytest
from rank_threads import on_threads

import taeda
import taeda.distributed as dist
import taeda.distributed.checkpoint as dcp
from taeda.distributed.checkpoint.optimizer import load_sharded_optimizer_state_dict
from taeda.distributed.tensor import DTensor, Shard, distribute_tensor

MOMENTUM = taeda.arange(21.0).view(7, 3)
STATE = {
    "state": {"layer.weight": {"exp_avg": MOMENTUM, "step": taeda.tensor(4.0)}},
    "param_groups": [{"lr": 0.1, "betas": (0.9, 0.99), "params": ["layer.weight"]}],
}


def test_state_of_plain_parameters(tmp_path):
    dcp.save({"optim": STATE, "model": {"layer.weight": MOMENTUM}}, checkpoint_id=tmp_path)
    reader = dcp.FileSystemReader(tmp_path)
    params = {"layer.weight": taeda.zeros(7, 3)}
    found = load_sharded_optimizer_state_dict(params, "optim", reader)
    assert found.keys() == {"optim"}
    assert taeda.equal(found["optim"]["state"]["layer.weight"]["exp_avg"], MOMENTUM)
    assert found["optim"]["state"]["layer.weight"]["step"].item() == 4
    assert found["optim"]["param_groups"] == STATE["param_groups"]
    with pytest.raises(KeyError, match="nothing under 'adam'"):
        load_sharded_optimizer_state_dict(params, "adam", reader)


def test_state_lies_as_its_parameter(tmp_path):
    dcp.save({"optim": STATE}, checkpoint_id=tmp_path)

    def work(rank):
        mesh = dist.init_device_mesh("cpu", (3,))
        params = {"layer.weight": distribute_tensor(taeda.zeros(7, 3), mesh, [Shard(0)])}
        reader = dcp.FileSystemReader(tmp_path)
        state = load_sharded_optimizer_state_dict(params, "optim", reader)["optim"]["state"]
        momentum = state["layer.weight"]["exp_avg"]
        assert isinstance(momentum, DTensor)
        assert tuple(momentum.placements) == (Shard(0),)
        assert type(state["layer.weight"]["step"]) is taeda.Tensor
        return taeda.equal(momentum.to_local(), MOMENTUM.chunk(3)[rank])

    assert on_threads(3, work) == [True] * 3
