"""Numbers by group, and who takes them."""

from __future__ import annotations

import pytest

from taeda.distributed.elastic.metrics import api


class Keep(api.MetricHandler):
    def __init__(self):
        self.seen = []

    def emit(self, metric_data):
        self.seen.append(metric_data)


@pytest.fixture
def handlers(monkeypatch):
    monkeypatch.setattr(api, "_handlers", {})
    monkeypatch.setattr(api, "_default", api.NullMetricHandler())
    mine, other = Keep(), Keep()
    api.configure(mine, "mine")
    api.configure(other)
    return mine.seen, other.seen


def test_numbers_go_to_the_handler_of_their_group(handlers):
    mine, other = handlers
    api.put_metric("n", 3, "mine")
    api.publish_metric("mine", "m", 4)
    api.put_metric("k", 5)
    assert [(d.group_name, d.name, d.value) for d in mine] == [("mine", "n", 3), ("mine", "m", 4)]
    assert [(d.group_name, d.name, d.value) for d in other] == [("torchelastic", "k", 5)]
    assert mine[0].timestamp <= mine[1].timestamp


@pytest.mark.parametrize("decorator", [api.prof(group="mine"), api.profile("mine")])
def test_functions_tell_how_they_ended_and_how_long_it_took(handlers, decorator):
    @decorator
    def divide(a, b):
        return a / b

    assert divide(6, b=2) == 3 and divide.__name__ == "divide"
    with pytest.raises(ZeroDivisionError):
        divide(1, 0)
    names = [d.name.rpartition("divide.")[2] for d in handlers[0]]
    assert names == ["success", "duration.ms", "failure", "duration.ms"]
    assert all(d.value >= 0 for d in handlers[0])


def test_a_bare_decorator_and_the_default_group(handlers):
    assert api.prof(lambda: 7)() == 7 and api.profile()(lambda: 8)() == 8
    assert {d.group_name for d in handlers[1]} == {"torchelastic"}


def test_the_console_and_nobody(capsys):
    data = api.MetricData(1.5, "g", "n", 2)
    api.ConsoleMetricHandler().emit(data)
    assert capsys.readouterr().out == "[1.500][g]: n=2\n"
    api.NullMetricHandler().emit(data)
    assert capsys.readouterr().out == ""
    assert api.MetricsConfig().params == {} and api.MetricsConfig({"a": "b"}).params == {"a": "b"}
    with pytest.raises(TypeError, match="abstract"):
        api.MetricHandler()
