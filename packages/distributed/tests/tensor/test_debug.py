"""CommDebugMode counts and refuses; visualize_sharding prints."""

from __future__ import annotations

import json

import pytest
from rank_threads import on_threads

import taeda
import taeda.distributed as dist
from taeda import nn
from taeda.distributed.tensor import DTensor, Partial, Shard, distribute_module, distribute_tensor
from taeda.distributed.tensor.debug import CommDebugMode, visualize_sharding


def test_collectives_by_module(tmp_path):
    models = [nn.Sequential(nn.Linear(4, 4), nn.ReLU()) for _ in range(2)]

    def work(rank):
        mesh = dist.init_device_mesh("cpu", (2,))
        model = distribute_module(models[rank], mesh)
        x = distribute_tensor(taeda.ones(4, 4), mesh, [Shard(0)])
        with CommDebugMode() as mode:
            model(x).sum().backward()
            model[0].weight.grad.full_tensor()
        assert mode.get_comm_counts() == {"all_reduce": 1} and mode.get_total_counts() == 1
        assert "weight" in mode.get_parameter_info()["Sequential.0"]
        assert "Sequential.0.weight" in mode.get_sharding_info()
        table = mode.generate_comm_debug_tracing_table()
        assert "Sequential.0 (forward)" in table and "aten.addmm" in table and "(backward)" in table
        assert "aten" not in mode.generate_comm_debug_tracing_table(0)
        mode.log_comm_debug_tracing_table_to_file(str(tmp_path / f"{rank}.txt"))
        mode.generate_json_dump(str(tmp_path / f"{rank}.json"), 1)
        told = json.loads((tmp_path / f"{rank}.json").read_text())
        assert any("all_reduce" in one["collectives"] for one in told)

    on_threads(2, work)


def test_gathers_above_a_limit_are_refused():
    def work(rank):
        mesh = dist.init_device_mesh("cpu", (2,))
        x = distribute_tensor(taeda.ones(8, 8), mesh, [Shard(0)])
        y = distribute_tensor(taeda.ones(64), mesh, [Shard(0)])
        with CommDebugMode(gather_limit=100):
            x.sum(1)
            with pytest.raises(RuntimeError, match="would gather 256 bytes"):
                y.sort()
            y.full_tensor()
        y.sort()

    on_threads(2, work)


def test_pictures(capsys):
    def work(rank):
        mesh = dist.init_device_mesh("cpu", (2, 2))
        if rank == 0:
            visualize_sharding(
                DTensor.from_local(taeda.ones(2, 3), mesh, [Shard(0), Shard(1)]), "here"
            )
            visualize_sharding(DTensor.from_local(taeda.ones(2), mesh, [Shard(0), Partial()]))
            visualize_sharding(DTensor.from_local(taeda.ones(0), mesh))
            with pytest.raises(RuntimeError, match="one or two"):
                visualize_sharding(DTensor.from_local(taeda.ones(1, 1, 1), mesh))

    on_threads(4, work)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "here" and lines[1].split() == ["columns", "0-2", "columns", "3-5"]
    assert lines[2].split() == ["rows", "0-1", "cpu:", "0", "cpu:", "1"]
    assert lines[4].split() == ["rows", "0-1", "cpu:", "0,", "1"] and len(lines) == 6
