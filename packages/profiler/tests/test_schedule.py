import pytest

from taeda.profiler import schedule

LETTERS = {"NONE": ".", "WARMUP": "w", "RECORD": "r", "RECORD_AND_SAVE": "S"}


@pytest.mark.parametrize(
    ("settings", "wanted"),
    [
        ({"wait": 1, "warmup": 1, "active": 2}, ".wrS.wrS.w"),
        ({"wait": 0, "warmup": 0, "active": 1}, "SSSSSSSSSS"),
        ({"wait": 2, "warmup": 1, "active": 2, "skip_first": 1, "repeat": 1}, "...wrS...."),
        (
            {"wait": 2, "warmup": 1, "active": 2, "skip_first": 3, "skip_first_wait": 1},
            "...wrS..wr",
        ),
        ({"wait": 2, "warmup": 1, "active": 2, "skip_first_wait": 1, "repeat": 1}, "wrS......."),
    ],
)
def test_steps_follow_the_plan(settings, wanted):
    plan = schedule(**settings)
    assert "".join(LETTERS[plan(step).name] for step in range(10)) == wanted


@pytest.mark.parametrize(
    ("name", "value"),
    [("wait", -1), ("warmup", -1), ("active", 0), ("repeat", -1), ("skip_first", -1)],
)
def test_numbers_that_make_no_plan(name, value):
    with pytest.raises(ValueError, match=name):
        schedule(**{"wait": 1, "warmup": 1, "active": 1, name: value})


def test_steps_count_from_zero():
    with pytest.raises(ValueError, match="from 0"):
        schedule(wait=1, warmup=0, active=1)(-1)
