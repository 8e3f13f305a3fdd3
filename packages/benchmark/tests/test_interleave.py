from __future__ import annotations

import json
from importlib.util import find_spec

import pytest

import taeda
from taeda.utils.benchmark import Timer, interleave

HAS_MATPLOTLIB = find_spec("matplotlib") is not None


def working(clock, seconds):
    space = {"clock": clock, "seconds": seconds}
    return Timer("clock.work(seconds)", timer=clock, globals=space, label=f"{seconds:g} s")


def test_ratios_are_to_the_first(clock):
    found = interleave(working(clock, 1e-3), working(clock, 5e-4), rounds=5, min_run_time=0.05)
    assert [len(row.ratios) for row in found.rows] == [5, 5]
    assert [row.ratio for row in found.rows] == pytest.approx([1.0, 0.5])
    assert found.rows[1].spread == pytest.approx((0.5, 0.5))


def test_each_round_begins_with_another(clock):
    order = []
    timers = [
        Timer(
            "order.append(i) or clock.work(1.0)",
            timer=clock,
            globals={"order": order, "i": i, "clock": clock},
        )
        for i in range(3)
    ]
    interleave(*timers, rounds=3, min_run_time=0.3)
    assert order[-9:] == [0, 1, 2, 1, 2, 0, 2, 0, 1]


def test_memory_is_counted():
    found = interleave(Timer("taeda.empty(1 << 20)"), Timer("None"), rounds=2, min_run_time=0.01)
    held = found.rows[0]
    assert held.blocks == pytest.approx(1.0)
    assert held.peak_bytes == pytest.approx(4 << 20, abs=1 << 17)
    assert found.rows[1].blocks == 0
    assert "< 64 KiB" in str(found)


def test_table_and_json_say_the_same(clock, tmp_path):
    found = interleave(working(clock, 1e-3), working(clock, 2e-3), rounds=2, min_run_time=0.01)
    assert "2.000  2.000 to 2.000" in str(found)
    assert str(found).splitlines()[1].startswith("0.001 s")
    text = found.to_json(tmp_path / "times.json")
    assert (tmp_path / "times.json").read_text() == text
    rows = json.loads(text)
    assert [row["ratio"] for row in rows] == pytest.approx([1.0, 2.0])
    assert rows[0]["task"]["label"] == "0.001 s"


@pytest.mark.skipif(not HAS_MATPLOTLIB, reason="a plot needs matplotlib, which is optional")
def test_plot_is_a_picture(clock, tmp_path):
    interleave(working(clock, 1e-3), working(clock, 2e-3), rounds=3, min_run_time=0.01).plot(
        tmp_path / "p.png"
    )
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")


def test_progress_is_told(clock):
    told = []
    interleave(
        working(clock, 1e-3), rounds=3, min_run_time=0.01, progress=lambda *x: told.append(x)
    )
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_refusals():
    with pytest.raises(ValueError, match="none came"):
        interleave()
    with pytest.raises(ValueError, match="rounds=0"):
        interleave(Timer(), rounds=0)


def test_threads_are_each_statements_own():
    seen = []
    timers = [
        Timer(
            "seen.append(taeda.get_num_threads())",
            globals={"seen": seen, "taeda": taeda},
            num_threads=n,
        )
        for n in (1, 2)
    ]
    interleave(*timers, rounds=1, min_run_time=0.001)
    assert set(seen) == {1, 2}
