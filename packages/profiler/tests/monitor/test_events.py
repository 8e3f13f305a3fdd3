"""Events reach the handlers that are registered, in order."""

import datetime as dt

import pytest

from taeda import monitor

WHEN = dt.datetime(2020, 1, 2)


@pytest.fixture
def seen():
    found = []
    handle = monitor.register_event_handler(found.append)
    yield found
    monitor.unregister_event_handler(handle)


def test_an_event_holds_what_it_was_given():
    data = {"a": 1, "b": 2.5, "c": "x", "d": True}
    event = monitor.Event("n", WHEN, data)
    assert (event.name, event.timestamp, event.data) == ("n", WHEN, data)
    event.name, event.data = "m", {}
    assert (event.name, event.data) == ("m", {})


@pytest.mark.parametrize("given", [(1, WHEN, {}), ("n", 3.0, {}), ("n", WHEN, []), ("n", WHEN, {"a": None}),
                                   ("n", WHEN, {1: 2})])  # fmt: skip
def test_events_refuse_other_types(given):
    with pytest.raises(TypeError, match="and has to be"):
        monitor.Event(*given)


def test_handlers_are_called_in_order_until_they_go(seen):
    order = []
    first = monitor.register_event_handler(lambda event: order.append(1))
    second = monitor.register_event_handler(lambda event: order.append(2))
    event = monitor.Event("n", WHEN, {})
    monitor.log_event(event)
    monitor.unregister_event_handler(first)
    monitor.unregister_event_handler(first)
    monitor.log_event(event)
    monitor.unregister_event_handler(second)
    monitor.log_event(event)
    assert order == [1, 2, 2] and seen == [event] * 3


def test_what_a_handler_raises_passes():
    def breaks(event):
        raise LookupError("mine")

    handle = monitor.register_event_handler(breaks)
    try:
        with pytest.raises(LookupError, match="mine"):
            monitor.log_event(monitor.Event("n", WHEN, {}))
    finally:
        monitor.unregister_event_handler(handle)


@pytest.mark.parametrize("call", [monitor.EventHandlerHandle, lambda: monitor.log_event(1),
                                  lambda: monitor.register_event_handler(1),
                                  lambda: monitor.unregister_event_handler(1)])  # fmt: skip
def test_refusals(call):
    with pytest.raises(TypeError):
        call()
