"""Statistics become scalars, other events do not."""

import datetime as dt

from taeda import monitor


class Writer:
    def __init__(self):
        self.written = []

    def add_scalar(self, tag, value, walltime):
        self.written.append((tag, value, walltime))


def test_statistics_become_scalars():
    writer, when = Writer(), dt.datetime(2020, 1, 2)
    handler = monitor.TensorboardEventHandler(writer)
    handler(monitor.Event("taeda.monitor.Stat", when, {"a.sum": 1.0, "a.count": 2}))
    handler(monitor.Event("other", when, {"b": 3}))
    assert writer.written == [("a.sum", 1.0, when.timestamp()), ("a.count", 2, when.timestamp())]
