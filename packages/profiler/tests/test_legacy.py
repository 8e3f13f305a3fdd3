import pytest

import taeda

profiler = pytest.importorskip(
    "taeda.autograd.profiler", reason="the older names are those of taeda-autograd"
)


def test_the_older_profile_has_events_tables_and_files(tmp_path):
    with profiler.profile(record_shapes=True) as prof:
        assert str(prof) == "<unfinished profile>"
        taeda.ones(2).exp()
    assert [e.name for e in prof.function_events] == ["aten::ones", "aten::exp"]
    assert isinstance(prof.key_averages(), profiler.EventList)
    assert (
        prof.self_cpu_time_total > 0 and "aten::exp" in prof.table() and str(prof) == prof.table()
    )
    prof.export_chrome_trace(str(tmp_path / "trace.json"))
    assert (tmp_path / "trace.json").stat().st_size


def test_a_profile_that_is_off_records_nothing():
    with profiler.profile(enabled=False) as prof:
        taeda.ones(1)
    assert prof.function_events is None


@pytest.mark.parametrize("kind", [profiler.emit_nvtx, profiler.emit_itt])
def test_marks_for_other_tools_are_refused(kind):
    with pytest.raises(RuntimeError, match="not installed"), kind():
        pass
    with kind(enabled=False):
        pass


def test_keys_that_come_twice_are_refused():
    unique = profiler.EnforceUnique()
    unique.see("a", 1)
    unique.see("a", 2)
    with pytest.raises(RuntimeError, match="came before"):
        unique.see("a", 1)


def test_the_step_is_that_of_who_is_furthest():
    tracker = profiler.KinetoStepTracker
    start = tracker.current_step()
    tracker.init_step_count("a")
    assert [tracker.increment_step("a"), tracker.increment_step("b"), tracker.increment_step("a")] == [
        start + 1, start + 2, start + 2,
    ]  # fmt: skip
    assert (
        tracker.erase_step_count("a")
        and tracker.erase_step_count("b")
        and not tracker.erase_step_count("a")
    )
