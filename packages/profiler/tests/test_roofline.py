"""Work against what the machine can do."""

import pytest

import taeda
from taeda.profiler import profile
from taeda.profiler._roofline import Limits, Work, measure, roofline, work_of


def test_the_roof_is_the_lower_of_both():
    work = {
        "product": Work(calls=1, took=10**9, flops=4 * 10**9, moved=10**9),
        "copy": Work(calls=2, took=2 * 10**9, flops=0, moved=10**10),
        "view": Work(calls=1, took=5, flops=0, moved=0),
    }
    rows = roofline(work, Limits(flops=8e9, moved=1e10))
    assert [(row.name, row.intensity, row.reached) for row in rows] == [
        ("copy", 0.0, 0.5),
        ("product", 4.0, 0.5),
    ]


def test_work_is_noted_by_a_profile():
    with profile(with_flops=True) as prof:
        taeda.ones(8, 16) @ taeda.ones(16, 4)
    work = work_of(prof._noted)["aten::matmul"]
    assert (work.calls, work.flops) == (1, 2 * 8 * 16 * 4)
    assert work.moved == 4 * (8 * 16 + 16 * 4 + 8 * 4)


@pytest.mark.parametrize("field", Limits._fields)
def test_a_machine_has_limits(field):
    assert getattr(measure(), field) > 1e6


def test_views_move_nothing_and_copies_do():
    x = taeda.ones(64, 64)
    with profile(with_flops=True) as prof:
        x.t().reshape(64, 64)
        x.t().reshape(-1)
        taeda.empty(100)
    moved = [(one.name, one.moved) for one in prof._noted if one.name != "aten::t"]
    assert moved == [("aten::reshape", 0), ("aten::reshape", 2 * 64 * 64 * 4), ("aten::empty", 0)]
