import pytest

import taeda
from taeda.profiler import (
    ProfilerActivity,
    profile,
    record_function,
    schedule,
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


@pytest.mark.parametrize("name", ["experimental_config"])
def test_arguments_that_would_do_nothing_are_refused(name):
    with pytest.raises(NotImplementedError, match=name):
        profile(**{name: object()})


def test_questions_before_the_end():
    with profile() as prof, pytest.raises(RuntimeError, match="nothing is recorded yet"):
        prof.key_averages()


@pytest.mark.parametrize("plan", [None, schedule(wait=0, warmup=0, active=1)])
def test_steps_outside_of_the_block_are_counted_and_record_nothing(plan):
    prof = profile(schedule=plan)
    prof.step()
    taeda.zeros(1)
    with prof:
        taeda.ones(1)
    prof.step()
    taeda.zeros(1)
    assert prof.step_num == 2
    assert "aten::ones" in names(prof)
    assert "aten::zeros" not in names(prof)
    with profile():  # nothing of the first one is left that would refuse it
        taeda.ones(1)
