"""Execution traces: nodes, their tensors, the file."""

import json

import pytest

import taeda
from taeda.profiler import ExecutionTraceObserver, profile, schedule


def nodes(path):
    return {node["name"]: node for node in json.loads(path.read_text())["nodes"]}


def test_tensors_are_followed_from_node_to_node(tmp_path):
    path = tmp_path / "trace.json"
    observer = ExecutionTraceObserver().register_callback(path)
    observer.start()
    x = taeda.ones(2, 3)
    y = x.exp()
    z = taeda.cat([x, y])
    observer.stop()
    found = nodes(path)
    (made,) = found["aten::ones"]["outputs"]["values"]
    assert made[2:] == [0, 6, 4, "cpu"] and found["aten::exp"]["inputs"]["values"][0] == made
    (result,) = found["aten::exp"]["outputs"]["values"]
    assert found["aten::cat"]["inputs"]["values"][0] == [made, result]
    assert (
        found["aten::cat"]["inputs"]["types"][0] == "GenericList[Tensor(float32),Tensor(float32)]"
    )
    assert found["aten::cat"]["outputs"]["shapes"] == [list(z.shape)]
    assert all(node["ctrl_deps"] < node["id"] for node in found.values())


def test_a_tensor_at_the_place_of_another_is_another(tmp_path):
    path = tmp_path / "trace.json"
    with ExecutionTraceObserver().register_callback(path):
        for _ in range(5):
            taeda.ones(4)
    made = [n["outputs"]["values"][0][0] for n in json.loads(path.read_text())["nodes"][1:]]
    assert len(set(made)) == 5


def test_it_observes_what_a_profile_records(tmp_path):
    path = tmp_path / "trace.json"
    observer = ExecutionTraceObserver().register_callback(path)
    plan = schedule(wait=1, warmup=0, active=1, repeat=1)
    with profile(schedule=plan, execution_trace_observer=observer) as prof:
        for step in range(4):
            (taeda.ones(2).exp if step == 1 else taeda.ones(2).log)()
            prof.step()
    assert {"aten::exp"} <= set(nodes(path)) and "aten::log" not in nodes(path)
    assert not observer.is_running() and observer.is_registered
    observer.cleanup()
    assert not observer.is_registered


def test_what_cannot_observe_is_refused(tmp_path):
    with pytest.raises(TypeError, match=r"has to have start\(\) and stop\(\)"):
        profile(execution_trace_observer=3)
    observer = ExecutionTraceObserver()
    observer.start()  # no file: nothing
    assert not observer.is_running()
    observer.register_callback(tmp_path / "a.json").start()
    with pytest.raises(RuntimeError, match="stop it before"):
        observer.register_callback(tmp_path / "b.json")
    observer.unregister_callback()
    assert (tmp_path / "a.json").exists()
