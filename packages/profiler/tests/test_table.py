"""Events as a table."""

import pytest

import taeda
from taeda.profiler import profile, record_function
from taeda.profiler._events import EventList


@pytest.fixture(scope="module")
def prof():
    with profile(record_shapes=True, profile_memory=True, with_flops=True) as made:
        with record_function("outer"):
            x = taeda.ones(4, 8)
            y = x @ x.mT
        y @ y
    return made


def test_the_table_has_what_was_asked_for(prof):
    text = prof.key_averages(group_by_input_shape=True).table(
        sort_by="count", row_limit=3, header="Mine"
    )
    for word in (
        "Mine",
        "Self CPU %",
        "CPU Mem",
        "# of Calls",
        "Input Shapes",
        "Total MFLOPs",
        "Self CPU time total:",
    ):
        assert word in text
    assert text.count("aten::") <= 3
    top = prof.events().table(top_level_events_only=True, time_unit="ms")
    assert "outer" in top and "aten::ones" not in top and "us" not in top
    short = prof.key_averages().table(max_name_column_width=8)
    assert "aten:..." in short and "aten::matmul" not in short


def test_questions_that_no_table_answers(prof):
    with pytest.raises(ValueError, match="sort_by"):
        prof.key_averages().table(sort_by="speed")
    with pytest.raises(ValueError, match="time_unit"):
        prof.key_averages().table(time_unit="minutes")


def test_an_empty_profile_has_a_table():
    assert "Name" in EventList().table() and EventList().total_average().count == 0
