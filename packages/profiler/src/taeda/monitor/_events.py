"""Events and their handlers."""

from __future__ import annotations

import datetime as dt
import threading
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

__all__ = [
    "Event",
    "EventHandlerHandle",
    "data_value_t",
    "log_event",
    "register_event_handler",
    "unregister_event_handler",
]

#: what an event holds
data_value_t: TypeAlias = str | float | int | bool


class Event:
    """Something that happened: a name that all of its kind share, when, and named values.

    TypeError for another type of time, name or value.

    Args:
        name: what kind of event it is
        timestamp: when it happened, a datetime
        data: values by name: text, number or bool each

    >>> import datetime
    >>> event = taeda.monitor.Event("epoch", datetime.datetime(2026, 1, 1), {"loss": 0.5})
    >>> event.name, event.data
    ('epoch', {'loss': 0.5})
    """

    def __init__(self, name: str, timestamp: dt.datetime, data: Mapping[str, data_value_t]) -> None:
        self.name, self.timestamp = name, timestamp
        self.data = data

    @property
    def name(self) -> str:
        """What kind of event it is."""
        return self._name

    @name.setter
    def name(self, value: str) -> None:
        self._name = _of(value, str, "name")

    @property
    def timestamp(self) -> dt.datetime:
        """When it happened."""
        return self._timestamp

    @timestamp.setter
    def timestamp(self, value: dt.datetime) -> None:
        self._timestamp = _of(value, dt.datetime, "timestamp")

    @property
    def data(self) -> dict[str, data_value_t]:
        """Its values, a new dict each time."""
        return dict(self._data)

    @data.setter
    def data(self, values: Mapping[str, data_value_t]) -> None:
        kept = dict(_of(values, Mapping, "data"))
        for key, value in kept.items():
            _of(key, str, "a key of data")
            _of(value, (str, float, int), f"data[{key!r}]")
        self._data = kept

    def __repr__(self) -> str:
        return f"Event(name={self.name!r}, timestamp={self.timestamp!r}, data={self._data!r})"


def _of(value: Any, kinds: Any, what: str) -> Any:
    if isinstance(value, kinds):
        return value
    several = kinds if isinstance(kinds, tuple) else (kinds,)
    names = " or ".join(kind.__name__ for kind in several)
    raise TypeError(f"Event: {what} is {type(value).__name__}, and has to be {names}")


class EventHandlerHandle:
    """What `register_event_handler` returns, for `unregister_event_handler`; not made by programs.

    >>> seen = []
    >>> handle = register_event_handler(seen.append)
    >>> type(handle).__name__
    'EventHandlerHandle'
    >>> unregister_event_handler(handle)
    """

    _callback: Callable[[Event], None]

    def __init__(self) -> None:
        raise TypeError("EventHandlerHandle: register_event_handler makes these")


_lock = threading.Lock()
_handlers: tuple[EventHandlerHandle, ...] = ()  # a new one each time: log_event takes no lock


def register_event_handler(callback: Callable[[Event], None]) -> EventHandlerHandle:
    """Call `callback(event)` for every event from now on, in the thread that logs it.

    Args:
        callback: a function of an Event; what it returns is not read

    >>> from taeda import monitor
    >>> handle = monitor.register_event_handler(lambda event: print(event.name, event.data))
    >>> import datetime
    >>> monitor.log_event(monitor.Event("loaded", datetime.datetime.now(), {"files": 3}))
    loaded {'files': 3}
    >>> monitor.unregister_event_handler(handle)
    """
    global _handlers
    if not callable(callback):
        raise TypeError(f"register_event_handler takes a function, not {type(callback).__name__}")
    handle = object.__new__(EventHandlerHandle)
    handle._callback = callback
    with _lock:
        _handlers = (*_handlers, handle)
    return handle


def unregister_event_handler(handler: EventHandlerHandle) -> None:
    """Call it no more; a handle that is not registered any more is let pass.

    Args:
        handler: what `register_event_handler` returned

    >>> from taeda import monitor
    >>> handle = monitor.register_event_handler(print)
    >>> monitor.unregister_event_handler(handle)
    """
    global _handlers
    if not isinstance(handler, EventHandlerHandle):
        raise TypeError(
            "unregister_event_handler takes what register_event_handler returned, "
            f"not {type(handler).__name__}"
        )
    with _lock:
        _handlers = tuple(one for one in _handlers if one is not handler)


def log_event(event: Event) -> None:
    """Hand an event to every handler, in the order of their registration; what one raises passes.

    Args:
        event: the Event

    >>> import datetime
    >>> from taeda import monitor
    >>> seen = []
    >>> handle = monitor.register_event_handler(seen.append)
    >>> monitor.log_event(monitor.Event("saved", datetime.datetime.now(), {"megabytes": 12.5}))
    >>> seen[0].data
    {'megabytes': 12.5}
    >>> monitor.unregister_event_handler(handle)
    """
    if not isinstance(event, Event):
        raise TypeError(f"log_event takes an Event, not {type(event).__name__}")
    for handle in _handlers:
        handle._callback(event)
