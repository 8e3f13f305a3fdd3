"""Calls that C noted lie within the ranges around them, and Python hears of none."""

import time

import pytest

import taeda
from taeda._core_api.programs import noted_calls, tracers
from taeda.profiler import ExecutionTraceObserver, profile, record_function
from taeda.profiler._recording import Range, Recording


def tree(ranges):
    return [(one.name, one.parent and one.parent.name) for one in ranges]


def nested():
    x = taeda.ones(4)
    with record_function("outer"):
        x + x
        with record_function("inner"):
            x.exp_()


WANTED = [
    ("aten::ones", None), ("outer", None), ("aten::add", "outer"), ("inner", "outer"),
    ("aten::exp", "inner"),
]  # fmt: skip


@pytest.mark.parametrize("shapes", [False, True])
def test_both_ways_of_noting_give_the_same(shapes):
    with profile(record_shapes=shapes) as prof:
        assert prof._collector.plain is not shapes
        nested()
    assert tree(prof._noted) == WANTED
    assert all(one.end >= one.start for one in prof._noted)
    assert sum(len(one.children or ()) for one in prof._noted) == 3


@pytest.mark.parametrize("shapes", [False, True])
def test_an_operator_that_is_defined_at_run_time_has_its_own_name(shapes):
    name = f"ownspace{int(shapes)}::twice"
    taeda.library.define(name, "(Tensor x) -> Tensor")
    taeda.library.impl(name, "cpu", lambda x: x + x)
    with profile(record_shapes=shapes) as prof:
        getattr(taeda.ops, name.partition(":")[0]).twice(taeda.ones(1))
    assert name in [one.name for one in prof._noted]
    assert name in [row.key for row in prof.key_averages()]


def test_python_is_not_called(monkeypatch):
    from taeda.profiler._collect import Collector

    monkeypatch.setattr(Collector.call, "__code__", (lambda self, op, args, run: 1 / 0).__code__)
    with profile() as prof:
        nested()
    assert tree(prof._noted) == WANTED


def test_another_tracer_beside_it_hears_every_call(tmp_path):
    observer = ExecutionTraceObserver().register_callback(tmp_path / "trace.json")
    with profile() as prof:
        taeda.ones(2)
        with observer:
            taeda.ones(2).exp()
        taeda.ones(2).sin()
    names = [one.name for one in prof._noted]
    assert names == ["aten::ones", "aten::ones", "aten::exp", "aten::ones", "aten::sin"]
    assert len(observer._nodes) == 3


def test_calls_that_fail_and_kernels_of_python_are_one_event_each():
    with profile() as prof:
        with pytest.raises(RuntimeError):
            taeda.ones(2) @ taeda.ones(3)
        taeda.fft.fft(taeda.ones(8))
    plain = [one.name for one in prof._noted]
    with profile(record_shapes=True) as prof:
        with pytest.raises(RuntimeError):
            taeda.ones(2) @ taeda.ones(3)
        taeda.fft.fft(taeda.ones(8))
    assert plain == [one.name for one in prof._noted] and len(plain) >= 4


def test_nothing_is_noted_after_the_end():
    with profile():
        taeda.ones(2)
    taeda.ones(2)
    assert noted_calls() == (0, [], b"") and not tracers.entered


def test_steps_to_warm_up_are_forgotten():
    plan = taeda.profiler.schedule(wait=0, warmup=1, active=1)
    with profile(schedule=plan) as prof:
        for size in (2, 3):
            taeda.ones(size).exp() if size == 2 else taeda.ones(size).sin()
            prof.step()
    assert {one.name for one in prof._noted if one.kind == "cpu_op"} == {"aten::ones", "aten::sin"}


def test_the_clocks_are_one():
    assert time.get_clock_info("perf_counter").implementation == "clock_gettime(CLOCK_MONOTONIC)"
    before = time.perf_counter_ns()
    with profile() as prof:
        taeda.ones(2)
    (one,) = prof._noted
    assert before <= one.start <= one.end <= time.perf_counter_ns()


def test_a_range_without_length_lies_in_the_one_around_it():
    outer, inner = Range("outer", "", "user_annotation", None), Range("in", "", "cpu_op", None)
    outer.start, outer.end = 5, 9
    inner.start = inner.end = 9
    rows = memoryview(bytearray(24)).cast("q")
    rows[1], rows[2] = 6, 7
    made = Recording([outer, inner], [(["exp.x"], bytes(rows))], 1).ranges()
    assert [(one.name, one.overload) for one in made][1] == ("aten::exp", "x")
    assert [one.parent for one in made] == [None, outer, outer]
