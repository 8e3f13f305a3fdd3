"""Metrics and events."""

from __future__ import annotations

import pytest

from taeda.distributed.elastic import events, metrics


def test_metrics_and_events():
    seen = []

    class Keep(metrics.MetricHandler):
        def emit(self, metric_data):
            seen.append((metric_data.group_name, metric_data.name.rpartition(".")[2]))

    metrics.configure(Keep(), "mine")
    metrics.put_metric("n", 3, "mine")
    metrics.put_metric("dropped", 3)

    @metrics.prof(group="mine")
    def work():
        return 5

    assert work() == 5
    assert seen == [("mine", "n"), ("mine", "success"), ("mine", "ms")]
    event = events.Event("start", events.EventSource.AGENT, metadata={"n": 1})
    assert events.Event.deserialize(event.serialize()) == event
    events.record(event)
    events.construct_and_record_rdzv_event("job", "here", events.NodeState.INIT)
    with pytest.raises(ValueError, match="destination"):
        events.get_logging_handler("smoke")
