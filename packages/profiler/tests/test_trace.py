"""Files of a profile."""

import gzip
import json

import pytest

import taeda
from taeda.profiler import profile, record_function, tensorboard_trace_handler


@pytest.mark.parametrize("suffix", ["json", "json.gz"])
def test_a_trace_is_json_with_what_was_added(tmp_path, suffix):
    path = tmp_path / f"trace.{suffix}"
    prof = profile(record_shapes=True, custom_trace_id_callback=lambda: "mine")
    prof.preset_metadata_json("before", "[1, 2]")
    with prof:
        prof.add_metadata("user", "somebody")
        with pytest.raises(ValueError, match="Expecting"):
            prof.add_metadata_json("broken", "{")
        with record_function("piece", "of text"):
            taeda.ones(2, 3).exp()
    prof.export_chrome_trace(str(path))
    data = path.read_bytes()
    trace = json.loads(gzip.decompress(data) if suffix.endswith("gz") else data)
    assert (trace["before"], trace["user"], trace["trace_id"]) == ([1, 2], "somebody", "mine")
    piece, _, exp = trace["traceEvents"]
    assert (piece["name"], piece["cat"], piece["args"]) == (
        "piece",
        "user_annotation",
        {"Args": "of text"},
    )
    assert (exp["cat"], exp["ph"], exp["args"]["Input Dims"]) == ("cpu_op", "X", [[2, 3]])
    assert piece["ts"] <= exp["ts"] and exp["ts"] + exp["dur"] <= piece["ts"] + piece["dur"]


def test_traces_for_tensorboard_lie_in_its_folder(tmp_path):
    with profile(
        on_trace_ready=tensorboard_trace_handler(str(tmp_path / "logs"), "worker", use_gzip=True)
    ):
        taeda.ones(1)
    (path,) = (tmp_path / "logs").iterdir()
    assert path.name.startswith("worker.") and path.name.endswith(".pt.trace.json.gz")
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(RuntimeError, match="cannot be made"),
        profile(on_trace_ready=tensorboard_trace_handler(str(tmp_path / "file" / "logs"))),
    ):
        pass


def test_stacks_for_a_flame_graph(tmp_path):
    with profile(with_stack=True) as prof:
        for _ in range(3):
            taeda.ones(200, 200) @ taeda.ones(200, 200)
    prof.export_stacks(str(tmp_path / "stacks"))
    line = (tmp_path / "stacks").read_text().splitlines()[0]
    stack, _, number = line.rpartition(" ")
    assert int(number) > 0 and stack.endswith("test_stacks_for_a_flame_graph") and " " not in stack
    with pytest.raises(ValueError, match="metric"):
        prof.export_stacks(str(tmp_path / "stacks"), "count")
