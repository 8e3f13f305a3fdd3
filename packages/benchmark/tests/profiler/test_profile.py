import gzip
import json

import pytest

import taeda
from taeda.profiler import (
    ProfilerActivity,
    profile,
    record_function,
    schedule,
    tensorboard_trace_handler,
)


def names(prof):
    return [event.name for event in prof.events()]


def test_each_cycle_is_told_of_and_warm_steps_are_thrown_away():
    told = []
    plan = schedule(wait=1, warmup=1, active=1)
    with profile(
        schedule=plan, on_trace_ready=lambda p: told.append((p.step_num, names(p)))
    ) as prof:
        for number in range(6):
            with record_function(f"work {number}"):
                taeda.ones(1)
            prof.step()
    assert told == [
        (3, ["ProfilerStep#2", "work 2", "aten::ones"]),
        (6, ["ProfilerStep#5", "work 5", "aten::ones"]),
    ]
    assert names(prof) == told[-1][1]


def test_cycles_can_be_kept():
    with profile(schedule=schedule(wait=0, warmup=0, active=1), acc_events=True) as prof:
        for _ in range(3):
            taeda.ones(1)
            prof.step()
    assert names(prof).count("aten::ones") == 3


def test_without_a_schedule_all_is_recorded():
    told = []
    with profile(on_trace_ready=told.append) as prof:
        taeda.ones(1)
        prof.step()
        taeda.ones(1)
    assert names(prof) == ["aten::ones"] * 2 and told == [prof]


def test_a_cycle_that_the_block_cuts_off_is_told_of_and_warm_steps_are_not():
    told = []
    with profile(schedule=schedule(wait=0, warmup=1, active=3), on_trace_ready=told.append) as prof:
        prof.step()
        taeda.ones(1)
    assert len(told) == 1
    with profile(schedule=schedule(wait=0, warmup=2, active=1), on_trace_ready=told.append):
        taeda.ones(1)
    assert len(told) == 1
    with profile():  # and the thread is free again
        pass


def test_a_schedule_that_never_saves_is_warned_of():
    from taeda.profiler import ProfilerAction as A

    with (
        pytest.warns(UserWarning, match="RECORD_AND_SAVE"),
        profile(schedule=lambda n: (A.RECORD, A.NONE)[n]) as prof,
    ):
        prof.step()


def test_operations_can_be_left_out_for_a_while():
    with profile() as prof:
        prof.toggle_collection_dynamic(False, [ProfilerActivity.CPU])
        taeda.ones(1)
        with record_function("seen"):
            prof.toggle_collection_dynamic(True, [ProfilerActivity.CPU])
        taeda.zeros(1)
    assert names(prof) == ["seen", "aten::zeros"]


def test_only_the_processor_can_be_recorded():
    with pytest.warns(UserWarning, match="CUDA"):
        prof = profile(activities=[ProfilerActivity.CUDA])
    with prof:
        taeda.ones(1)
    assert names(prof) == []
    with pytest.raises(TypeError, match="ProfilerActivity"):
        profile(activities=["cpu"])


@pytest.mark.parametrize("name", ["experimental_config", "execution_trace_observer"])
def test_arguments_that_would_do_nothing_are_refused(name):
    with pytest.raises(NotImplementedError, match=name):
        profile(**{name: object()})


def test_questions_before_the_end():
    with profile() as prof, pytest.raises(RuntimeError, match="nothing is recorded yet"):
        prof.key_averages()


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
