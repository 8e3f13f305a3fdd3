"""Statistics of windows, with a clock of the test."""

import datetime as dt
import statistics

import pytest

from taeda import monitor
from taeda.monitor import Aggregation, Stat, _stats

SECOND = dt.timedelta(seconds=1)
RULES = {
    Aggregation.VALUE: lambda values: values[-1],
    Aggregation.MEAN: statistics.fmean,
    Aggregation.COUNT: len,
    Aggregation.SUM: sum,
    Aggregation.MAX: max,
    Aggregation.MIN: min,
}


@pytest.fixture
def clock(monkeypatch):
    now = [5000]
    monkeypatch.setattr(_stats, "_now", lambda: now[0])
    return now


@pytest.fixture
def seen():
    found = []
    handle = monitor.register_event_handler(found.append)
    yield found
    monitor.unregister_event_handler(handle)


@pytest.mark.parametrize("rule", Aggregation)
@pytest.mark.parametrize("values", [[3.0], [-2.0, -5.0, -1.0], [1, 2, 3, 10]])
def test_every_aggregation_is_that_of_its_window(clock, seen, rule, values):
    stat = Stat("s", [rule], SECOND)
    assert stat.get() == {rule: 0.0} and stat.count == 0
    for value in values:
        stat.add(value)
    assert stat.get() == {rule: RULES[rule](values)} and stat.count == len(values) and seen == []
    clock[0] += 1000
    stat.add(100)
    assert [event.data for event in seen] == [{f"s.{rule.name.lower()}": RULES[rule](values)}]
    assert stat.count == 1 and stat.get() == {rule: RULES[rule]([100])}


def test_windows_close_at_their_millisecond(clock, seen):
    stat = Stat("s", [Aggregation.COUNT], SECOND)
    for later in (0, 999, 1000, 1999, 2000, 5500, 5999, 6000):
        clock[0] = 5000 + later
        stat.add(1)
    assert [event.data["s.count"] for event in seen] == [2, 2, 1, 2]


def test_adds_beyond_the_most_are_discarded(clock, seen):
    stat = Stat("s", [Aggregation.SUM], SECOND, max_samples=2)
    for value in (1, 2, 4):
        stat.add(value)
    assert stat.count == 2 and stat.get() == {Aggregation.SUM: 3}
    clock[0] += 1000
    stat.add(8)
    assert stat.get() == {Aggregation.SUM: 8}


def test_an_object_that_goes_logs_what_it_has(clock, seen):
    stat = Stat("s", [Aggregation.SUM], SECOND)
    stat.add(2)
    del stat
    Stat("t", [Aggregation.SUM], SECOND)
    assert [(event.name, event.data) for event in seen] == [("taeda.monitor.Stat", {"s.sum": 2})]


def test_a_handler_may_add_and_may_raise(clock):
    stat = Stat("s", [Aggregation.SUM], SECOND)

    def hears(event):
        stat.add(10)
        raise LookupError

    stat.add(1)
    clock[0] += 1000
    handle = monitor.register_event_handler(hears)
    try:
        with pytest.raises(LookupError):
            stat.add(2)
    finally:
        monitor.unregister_event_handler(handle)
    assert stat.get() == {Aggregation.SUM: 12}


@pytest.mark.parametrize(("given", "error"), [
    ((1, [], SECOND), TypeError), (("s", ["x"], SECOND), TypeError), (("s", [], 1.0), TypeError),
    (("s", [], 0 * SECOND), ValueError), (("s", [], -SECOND), ValueError), (("s", [], SECOND, 0), ValueError),
])  # fmt: skip
def test_refusals(given, error):
    with pytest.raises(error, match="Stat: "):
        Stat(*given)
